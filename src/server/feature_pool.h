// The server's pool of the features that clients have shared: whose, how old, and who gets which.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "model/named_tensors.h"
#include "privacy/feature_options.h"
#include "privacy/shared_features.h"

namespace kindred {

// Not to be changed while another thread reads it.
class FeaturePool {
 public:
  // The client's latest features, made in this round, in place of its earlier ones.
  void Replace(int client, const at::Tensor& rows, int round);

  // Drops features of more than max_age rounds at the beginning of `round`; those of the round
  // before it are 1 round old.
  void DropOld(int round, int max_age);

  // Q_{s,c} (paper, Eq. 2): the features of all other clients, in the order of clients; above
  // max_remote rows a uniform sample of them, drawn anew for each round and client.
  RemoteFeatures RemoteFor(int client, int round, int max_remote, uint64_t seed) const;

  // The features by client, sharing memory.
  std::map<int, at::Tensor> All() const;

  int64_t Rows() const;

  // As tensors that can be saved, and back: "rows/3", the features of client 3, and "round/3".
  NamedTensors ToTensors() const;
  static FeaturePool FromTensors(const NamedTensors& tensors);

 private:
  struct Entry {
    at::Tensor rows;  // [n, D]
    int round = 0;
  };
  std::map<int, Entry> entries_;  // by client
};

}  // namespace kindred

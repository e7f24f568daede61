// [features]: the features that clients share: what makes them, how long they are kept, what they
// weigh.
#pragma once

#include <string>

#include "base/config.h"

namespace kindred {

// [features]
struct FeatureOptions {
  std::string encoder = "local";  // local: the client's own, after training; global: the received
  double weight = 1;              // of all remote negatives together, in local banks
  int max_age = 10;               // rounds; older features are dropped
  int max_remote = 0;             // rows a client is sent at most, drawn uniformly; 0: all
};

void Bind(Config& config, FeatureOptions& options);

}  // namespace kindred

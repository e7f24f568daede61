// Who owns which image: the table of partition schemes and the value they make.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/config.h"
#include "data/dataset.h"

namespace kindred {

// [partition]
struct PartitionOptions {
  std::string scheme = "iid";
  int clients = 0;             // 0: the scheme's own
  int classes_per_client = 0;  // noniid1, noniid2; 0: the scheme's own
  double alpha = 0.5;          // dirichlet: small is uneven
  uint64_t seed = 0;           // its own: the split stays while training seeds change
};

void Bind(Config& config, PartitionOptions& options);

// Indices into the training split, each exactly once over all clients, rising within a client. A
// client's place in `clients` is its place in the enrolment list.
struct Partition {
  std::vector<std::vector<int>> clients;
  std::vector<std::string> names;  // one per client

  int Clients() const { return static_cast<int>(clients.size()); }
};

// What a scheme sees: the labels or folders of the training images, and the options.
struct PartitionInput {
  int images = 0;
  std::span<const int> labels;   // empty: unlabeled
  std::span<const int> folders;  // empty: not from folders
  int classes = 0;
  std::span<const std::string> folder_names;
  PartitionOptions options;
};

// An entry of the table: to add a scheme, write its file and one such line in partition.cc.
struct PartitionScheme {
  const char* name;
  const char* summary;
  bool needs_labels;
  // The images of each client, in any order, and their names where the scheme has better ones than
  // numbers. Throws a usage error when the images cannot be dealt.
  Partition (*deal)(const PartitionInput& input);
};

std::span<const PartitionScheme> PartitionSchemes();

// Deals the training images to clients. Throws a usage error that says what to change when they
// cannot be dealt, or when a client would own nothing.
Partition MakePartition(const Dataset& dataset, const PartitionOptions& options);

// counts[c][l]: how many images of class l client c owns; one column without labels.
std::vector<std::vector<int>> ClassCounts(const Partition& partition, const Split& split,
                                          int classes);

// A text table, one row per client: its images and how they spread over the classes.
std::string PartitionTable(const Partition& partition, const Dataset& dataset);

// BLAKE2b over the indices of each client.
std::string PartitionHash(const Partition& partition);

}  // namespace kindred

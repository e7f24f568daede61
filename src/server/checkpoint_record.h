// What checkpoints say in words: which of them count, and each one's fields beside its tensors.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "server/usual_delta.h"

namespace kindred {

// A file that counts.
struct Generation {
  std::string file;  // a name in the folder, never a path
  std::string digest;

  bool operator==(const Generation&) const = default;
};

// commit.json: the generations, newest first.
std::string SerializeCommitRecord(const std::vector<Generation>& generations);

// Reads it back; what follows a damaged entry does not count. Throws a data error when no entry is
// whole. `name` is for messages.
std::vector<Generation> ParseCommitRecord(std::span<const uint8_t> bytes, const std::string& name);

// What the metadata of a checkpoint hold; RunState says what the fields are.
struct CheckpointFields {
  int next_round = 0;
  uint64_t metrics_offset = 0;
  std::string progress, identity, input, members;
  RecentDeltas recent;
  std::vector<int> clients;  // those whose states are in it

  bool operator==(const CheckpointFields&) const = default;
};

std::map<std::string, std::string> ToMetadata(const CheckpointFields& fields);

// Reads them back. Throws a data error when one is missing or damaged; checkpoints of earlier
// versions have no input, members and recent.
CheckpointFields FieldsFromMetadata(const std::map<std::string, std::string>& metadata);

}  // namespace kindred

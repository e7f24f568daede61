// The commands of `kindred eval`, one per metric, the part that needs no LibTorch.
#pragma once

#include <span>

namespace kindred {

// A flag of `kindred eval` that is short for a key; with `value`, one that takes none.
struct MetricFlag {
  const char* flag;
  const char* key;
  const char* meaning;
  const char* value = nullptr;
};

struct MetricCommand {
  const char* name;  // of an entry in evaluation.cc
  const char* summary;
  std::span<const MetricFlag> flags;
};

std::span<const MetricCommand> MetricCommands();

}  // namespace kindred

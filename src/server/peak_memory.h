// How much memory a coordinator can come to need.
#pragma once

#include <cstdint>

#include "aggregate/rule.h"
#include "server/optimizer_kinds.h"

namespace kindred {

struct MemoryNeed {
  uint64_t values = 0;  // floats of the shared model
  RuleOptions rule = {};
  OptimizerOptions optimizer = {};
  uint64_t clients = 0;    // that may be enrolled
  uint64_t in_round = 0;   // that a round asks, over-selection included
  uint64_t held_back = 0;  // of their models, those that CappedRule holds back at most
  uint64_t features = 0;   // rows a client may share
  uint64_t features_width = 0;
  uint64_t max_remote = 0;     // rows a client is sent at most; 0: all
  uint64_t upload_budget = 0;  // bytes of uploads under way at one time, and of remote features
};

// Bytes at the fullest moment of a round: the global model, the same as it travels and the next,
// what the rule and the optimiser hold, the feature pool, the features that came in, remote ones on
// their way out (within the budget, or a single one) and uploads under way. What the program has
// beside that is not in it.
uint64_t PeakMemory(const MemoryNeed& need);

}  // namespace kindred

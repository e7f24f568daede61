#include "server/peak_memory.h"

#include <algorithm>

namespace kindred {

uint64_t PeakMemory(const MemoryNeed& need) {
  constexpr uint64_t kFloat = 4, kSum = 16;  // bytes
  const uint64_t models = 3 * kFloat * need.values;
  // One more, while the least of them gives way to it.
  const uint64_t held = std::min(need.held_back + (need.held_back > 0), need.in_round);
  const uint64_t rule =
      need.values *
      (RuleNamed(need.rule.rule).keeps_models ? kFloat * need.in_round : kSum + kFloat * held);
  const OptimizerKind& optimizer = OptimizerNamed(need.optimizer.optimizer);
  const uint64_t moments = kFloat * need.values * optimizer.moments;
  const uint64_t row = kFloat * need.features_width;
  const uint64_t pool = need.clients * need.features * row;
  const uint64_t arrived = need.in_round * need.features * row;
  const uint64_t others = need.clients > 0 ? (need.clients - 1) * need.features : 0;
  const uint64_t remote = need.max_remote == 0 ? others : std::min(others, need.max_remote);
  const uint64_t remotes =
      std::max(remote * row, std::min(need.in_round * remote * row, need.upload_budget));
  return models + rule + moments + pool + arrived + remotes + need.upload_budget;
}

}  // namespace kindred

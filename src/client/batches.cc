#include "client/batches.h"

#include <algorithm>

namespace kindred {

std::vector<std::vector<int>> EpochBatches(int count, int batch, Rng& rng) {
  const auto order = rng.Permutation(count);
  if (count < batch) return {order};
  std::vector<std::vector<int>> batches;
  for (auto at = order.begin(); order.end() - at >= batch; at += batch) {
    batches.emplace_back(at, at + batch);
  }
  return batches;
}

std::vector<std::vector<int>> WholeEpochBatches(int count, int batch, Rng& rng) {
  const auto order = rng.Permutation(count);
  std::vector<std::vector<int>> batches;
  for (auto at = order.begin(); at != order.end();) {
    const auto end = order.end() - at < 2 * batch ? order.end() : at + batch;
    batches.emplace_back(at, end);
    at = end;
  }
  return batches;
}

}  // namespace kindred

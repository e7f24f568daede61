#include "aggregate/krum.h"

#include <torch/torch.h>

#include <algorithm>

#include "aggregate/median.h"
#include "base/log.h"
#include "model/distance.h"

namespace kindred {

NamedTensors Krum::Finish() {
  const ModelsByClient& models = Models();
  const auto n = static_cast<int64_t>(models.size());
  const int64_t nearest = n - byzantine_ - 2;
  if (n < 2 * int64_t{byzantine_} + 3) {
    spdlog::warn("server.rule = krum: {} updates, {} are needed; the median is taken", n,
                 2 * int64_t{byzantine_} + 3);
    return MedianOf(models);
  }
  std::map<int, std::vector<double>> distances;
  for (auto a = models.begin(); a != models.end(); ++a) {
    for (auto b = std::next(a); b != models.end(); ++b) {
      const double squared = SquaredDistance(a->second, b->second);
      distances[a->first].push_back(squared);
      distances[b->first].push_back(squared);
    }
  }
  int chosen = -1;
  double least = 0;
  for (auto& [client, all] : distances) {
    std::sort(all.begin(), all.end());
    double score = 0;
    for (int64_t i = 0; i < nearest; ++i) score += all[static_cast<size_t>(i)];
    if (chosen < 0 || score < least) {
      chosen = client;
      least = score;
    }
  }
  return WithLargestCounters(models, models.at(chosen));
}

}  // namespace kindred

#include "eval/labeled_subset.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace kindred {
namespace {

std::vector<int> SampleClasses(std::span<const int> labels, int classes, double ratio, Rng& rng,
                               bool none_allowed) {
  std::vector<std::vector<int>> members(static_cast<size_t>(classes));
  for (size_t i = 0; i < labels.size(); ++i) {
    members[static_cast<size_t>(labels[i])].push_back(static_cast<int>(i));
  }
  std::vector<int> chosen;
  for (int c = 0; c < classes; ++c) {
    auto& own = members[static_cast<size_t>(c)];
    const auto count = static_cast<size_t>(std::lround(ratio * static_cast<double>(own.size())));
    if (count == 0 && !own.empty() && !none_allowed) {
      throw UsageError(
          "a share of {} leaves class {} without a label: it has {} images; raise eval.labels",
          ratio, c, own.size());
    }
    rng.Shuffle(std::span(own));
    chosen.insert(chosen.end(), own.begin(), own.begin() + static_cast<std::ptrdiff_t>(count));
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace

std::vector<int> StratifiedSample(std::span<const int> labels, int classes, double ratio,
                                  Rng& rng) {
  return SampleClasses(labels, classes, ratio, rng, true);
}

std::vector<int> LabeledSubset(std::span<const int> labels, int classes, double ratio, Rng& rng) {
  return SampleClasses(labels, classes, ratio, rng, false);
}

std::vector<int> LabelsOf(std::span<const int> labels, std::span<const int> indices) {
  std::vector<int> chosen;
  for (const int i : indices) chosen.push_back(labels[static_cast<size_t>(i)]);
  return chosen;
}

}  // namespace kindred

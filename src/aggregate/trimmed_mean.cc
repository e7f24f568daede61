#include "aggregate/trimmed_mean.h"

#include <algorithm>
#include <cmath>

namespace kindred {

size_t TrimmedAtEachEnd(double share, size_t clients) {
  // A share such as 0.1 of 30 may be a hair above 3.
  const double wanted = std::ceil(share * static_cast<double>(clients) - 1e-9);
  return std::min(static_cast<size_t>(std::max(0.0, wanted)), (clients - 1) / 2);
}

NamedTensors TrimmedMean::Finish() {
  const size_t cut = TrimmedAtEachEnd(share_, Models().size());
  return ValueByValue(Models(), [&](const SortedValues& sorted, std::span<float> out) {
    const size_t kept = sorted.count - 2 * cut;
    for (size_t i = 0; i < sorted.width; ++i) {
      double sum = 0;
      for (size_t r = cut; r < cut + kept; ++r) sum += static_cast<double>(sorted.Row(r)[i]);
      out[i] = static_cast<float>(sum / static_cast<double>(kept));
    }
  });
}

}  // namespace kindred

#include "aggregate/median.h"

namespace kindred {

NamedTensors MedianOf(const ModelsByClient& models) {
  return ValueByValue(models, [](const SortedValues& sorted, std::span<float> out) {
    const auto low = sorted.Row((sorted.count - 1) / 2), high = sorted.Row(sorted.count / 2);
    for (size_t i = 0; i < sorted.width; ++i) {
      out[i] = static_cast<float>((static_cast<double>(low[i]) + static_cast<double>(high[i])) / 2);
    }
  });
}

NamedTensors Median::Finish() { return MedianOf(Models()); }

}  // namespace kindred

#include "data/resize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"

namespace kindred {
namespace {

// What one output position reads: weights over the inputs from `first` on.
struct Taps {
  int first = 0;
  std::vector<float> weights;
};

// Taps of `size` outputs, cut from the middle of an axis of `length` inputs scaled to `scaled` >=
// size.
std::vector<Taps> AxisTaps(int length, int scaled, int size) {
  const double scale = static_cast<double>(length) / scaled;  // inputs per output
  const double support = std::max(scale, 1.0);
  // torchvision's CenterCrop starts at round((scaled - size) / 2), ties to even.
  const int offset = static_cast<int>(std::nearbyint((scaled - size) / 2.0));
  std::vector<Taps> axis(static_cast<size_t>(size));
  for (int i = 0; i < size; ++i) {
    const double center = scale * (i + offset + 0.5);
    const int first = std::max(static_cast<int>(center - support + 0.5), 0);
    const int last = std::min(static_cast<int>(center + support + 0.5), length);  // past the end
    Taps taps{.first = first};
    double sum = 0;
    std::vector<double> weights;
    for (int x = first; x < last; ++x) {
      weights.push_back(std::max(0.0, 1.0 - std::abs((x - center + 0.5) / support)));
      sum += weights.back();
    }
    for (const double weight : weights) taps.weights.push_back(static_cast<float>(weight / sum));
    axis[static_cast<size_t>(i)] = std::move(taps);
  }
  return axis;
}

}  // namespace

void ResizeToSquare(std::span<const uint8_t> in, const ImageShape& shape, int size,
                    std::span<uint8_t> out) {
  const auto [channels, height, width] = shape;
  const auto h = static_cast<size_t>(height), w = static_cast<size_t>(width);
  const auto s = static_cast<size_t>(size), planes = static_cast<size_t>(channels);
  Check(in.size() == planes * h * w && out.size() == planes * s * s, "image and shape differ");
  const int shorter = std::min(height, width);
  // The longer side follows the shorter one, rounded down as torchvision does.
  const auto scaled = [&](int side) {
    return static_cast<int>(static_cast<int64_t>(side) * size / shorter);
  };
  const auto columns = AxisTaps(width, scaled(width), size);
  const auto rows = AxisTaps(height, scaled(height), size);
  const size_t first_row = static_cast<size_t>(rows.front().first);
  const size_t end_row = static_cast<size_t>(rows.back().first) + rows.back().weights.size();

  // [end_row - first_row, size]: one plane scaled along its rows, those that are needed
  std::vector<float> narrow((end_row - first_row) * s);
  for (size_t c = 0; c < planes; ++c) {
    for (size_t y = first_row; y < end_row; ++y) {
      const uint8_t* line = in.data() + (c * h + y) * w;
      for (size_t x = 0; x < s; ++x) {
        float sum = 0;
        const uint8_t* from = line + columns[x].first;
        for (size_t t = 0; t < columns[x].weights.size(); ++t)
          sum += columns[x].weights[t] * from[t];
        narrow[(y - first_row) * s + x] = sum;
      }
    }
    for (size_t y = 0; y < s; ++y) {
      for (size_t x = 0; x < s; ++x) {
        float sum = 0;
        const float* from =
            narrow.data() + (static_cast<size_t>(rows[y].first) - first_row) * s + x;
        for (size_t t = 0; t < rows[y].weights.size(); ++t) sum += rows[y].weights[t] * from[t * s];
        out[(c * s + y) * s + x] = static_cast<uint8_t>(std::clamp(sum + 0.5f, 0.0f, 255.0f));
      }
    }
  }
}

}  // namespace kindred

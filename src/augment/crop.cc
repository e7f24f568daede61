#include "augment/crop.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/vectorize.h"

namespace kindred {
namespace {

// What an output position reads: two inputs and their weights.
struct Pair {
  int low = 0;
  int high = 0;
  float low_weight = 1;
  float high_weight = 0;
};

// The pairs of `size` outputs over `length` <= size inputs, `scale` multiplied into the weights.
std::vector<Pair> AxisPairs(int length, int size, float scale) {
  std::vector<Pair> axis(static_cast<size_t>(size));
  const float step = static_cast<float>(length) / static_cast<float>(size);
  for (int i = 0; i < size; ++i) {
    const float at = std::max((static_cast<float>(i) + 0.5f) * step - 0.5f, 0.0f);
    const int low = std::min(static_cast<int>(at), length - 1);
    const float part = at - static_cast<float>(low);
    axis[static_cast<size_t>(i)] = {.low = low,
                                    .high = std::min(low + 1, length - 1),
                                    .low_weight = (1.0f - part) * scale,
                                    .high_weight = part * scale};
  }
  return axis;
}

KINDRED_VECTORIZE void Blend(const float* low, const float* high, float low_weight,
                             float high_weight, size_t count, float* out) {
  for (size_t x = 0; x < count; ++x) out[x] = low_weight * low[x] + high_weight * high[x];
}

}  // namespace

CropBox DrawCrop(Rng& rng, int height, int width, double least_area) {
  constexpr double kLeastRatio = 3.0 / 4.0, kMostRatio = 4.0 / 3.0;
  const double area = static_cast<double>(height) * width;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * rng.Uniform(least_area, 1.0);
    const double ratio = std::exp(rng.Uniform(std::log(kLeastRatio), std::log(kMostRatio)));
    const int w = static_cast<int>(std::nearbyint(std::sqrt(target * ratio)));
    const int h = static_cast<int>(std::nearbyint(std::sqrt(target / ratio)));
    if (w <= 0 || w > width || h <= 0 || h > height) continue;
    const auto top = rng.Below(static_cast<uint64_t>(height - h) + 1);
    const auto left = rng.Below(static_cast<uint64_t>(width - w) + 1);
    return {.top = static_cast<int>(top), .left = static_cast<int>(left), .height = h, .width = w};
  }
  int w = width, h = height;
  const double ratio = static_cast<double>(width) / height;
  if (ratio < kLeastRatio) h = static_cast<int>(std::nearbyint(w / kLeastRatio));
  if (ratio > kMostRatio) w = static_cast<int>(std::nearbyint(h * kMostRatio));
  return {.top = (height - h) / 2, .left = (width - w) / 2, .height = h, .width = w};
}

void ResizedCrop(std::span<const uint8_t> image, const ImageShape& shape, const CropBox& box,
                 std::span<float> out) {
  const auto [channels, height, width] = shape;
  const auto planes = static_cast<size_t>(channels);
  const auto rows = static_cast<size_t>(height), columns = static_cast<size_t>(width);
  Check(image.size() == planes * rows * columns && out.size() == image.size(),
        "image and shape differ");
  Check(box.height >= 1 && box.width >= 1 && box.top >= 0 && box.left >= 0 &&
            box.top + box.height <= height && box.left + box.width <= width,
        "the crop leaves the image");
  const auto across = AxisPairs(box.width, width, 1.0f / 255.0f);
  const auto down = AxisPairs(box.height, height, 1.0f);
  const auto box_rows = static_cast<size_t>(box.height);
  std::vector<float> wide(box_rows *
                          columns);  // [box.height, width]: the box scaled along its rows
  for (size_t c = 0; c < planes; ++c) {
    const uint8_t* corner = image.data() + (c * rows + static_cast<size_t>(box.top)) * columns +
                            static_cast<size_t>(box.left);
    for (size_t y = 0; y < box_rows; ++y) {
      const uint8_t* in = corner + y * columns;
      for (size_t x = 0; x < columns; ++x) {
        const Pair& pair = across[x];
        wide[y * columns + x] = pair.low_weight * static_cast<float>(in[pair.low]) +
                                pair.high_weight * static_cast<float>(in[pair.high]);
      }
    }
    for (size_t y = 0; y < rows; ++y) {
      const Pair& pair = down[y];
      Blend(wide.data() + static_cast<size_t>(pair.low) * columns,
            wide.data() + static_cast<size_t>(pair.high) * columns, pair.low_weight,
            pair.high_weight, columns, out.data() + (c * rows + y) * columns);
    }
  }
}

}  // namespace kindred

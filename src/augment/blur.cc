#include "augment/blur.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/vectorize.h"

namespace kindred {
namespace {

KINDRED_VECTORIZE void AddScaled(const float* in, float weight, size_t count, float* out) {
  for (size_t i = 0; i < count; ++i) out[i] += weight * in[i];
}

// Position i of an axis of `length`, mirrored at its ends without repeating them.
size_t Mirrored(int i, int length) {
  if (i < 0) i = -i;
  if (i >= length) i = 2 * (length - 1) - i;
  return static_cast<size_t>(i);
}

}  // namespace

int BlurKernelSize(int side) { return std::max(3, side / 10 | 1); }

void GaussianBlur(std::span<float> image, const ImageShape& shape, float sigma) {
  const int shorter = std::min(shape.height, shape.width);
  const int half = std::min(BlurKernelSize(shorter) / 2, shorter - 1);
  std::vector<float> weights;
  double sum = 0;
  for (int i = -half; i <= half; ++i) {
    weights.push_back(std::exp(-0.5f * static_cast<float>(i * i) / (sigma * sigma)));
    sum += weights.back();
  }
  for (float& weight : weights) weight = static_cast<float>(weight / sum);

  const auto rows = static_cast<size_t>(shape.height), columns = static_cast<size_t>(shape.width);
  std::vector<float> padded(columns + 2 * static_cast<size_t>(half));
  std::vector<float> across(rows * columns);
  for (size_t plane = 0; plane < image.size(); plane += rows * columns) {
    std::fill(across.begin(), across.end(), 0.0f);
    for (size_t y = 0; y < rows; ++y) {
      const float* in = image.data() + plane + y * columns;
      for (int x = -half; x < shape.width + half; ++x) {
        padded[static_cast<size_t>(x + half)] = in[Mirrored(x, shape.width)];
      }
      for (size_t t = 0; t < weights.size(); ++t) {
        AddScaled(padded.data() + t, weights[t], columns, across.data() + y * columns);
      }
    }
    for (int y = 0; y < shape.height; ++y) {
      float* out = image.data() + plane + static_cast<size_t>(y) * columns;
      std::fill(out, out + columns, 0.0f);
      for (int t = -half; t <= half; ++t) {
        AddScaled(across.data() + Mirrored(y + t, shape.height) * columns,
                  weights[static_cast<size_t>(t + half)], columns, out);
      }
    }
  }
}

}  // namespace kindred

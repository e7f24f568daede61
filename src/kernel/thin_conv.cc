#include "kernel/thin_conv.h"

#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"
#include "kernel/lanes.h"
#include "kernel/scratch.h"
#include "kernel/thin_conv_rows.h"

namespace kindred {
namespace {

constexpr int64_t kParts = 8;  // of a weight gradient

thread_local Scratch image_scratch, arranged_scratch;

// An image with a border of zeros.
struct Framed {
  const ConvShape& shape;
  int64_t line = (shape.width + 2) * shape.in;
  float* values = image_scratch.Get(static_cast<size_t>((shape.height + 2) * line));

  void Take(const float* image) {
    const int64_t inner = shape.width * shape.in;
    std::fill_n(values, line, 0.0f);
    for (int64_t r = 0; r < shape.height; ++r) {
      float* row = values + (r + 1) * line;
      std::fill_n(row, shape.in, 0.0f);
      std::copy_n(image + r * inner, inner, row + shape.in);
      std::fill_n(row + shape.in + inner, shape.in, 0.0f);
    }
    std::fill_n(values + (shape.height + 1) * line, line, 0.0f);
  }

  ThinRow Row(int64_t r) const {
    return {values + r * line, line, shape.width, shape.in, shape.out};
  }
};

// Calls visit(w's index, its place in [3, 3 in, out]) for each weight.
template <class Visit>
void EachThinWeight(const ConvShape& shape, const Visit& visit) {
  for (int64_t k = 0; k < shape.out; ++k) {
    for (int64_t c = 0; c < shape.in; ++c) {
      for (int64_t tap = 0; tap < 9; ++tap) {
        visit(static_cast<size_t>((k * shape.in + c) * 9 + tap),
              (tap * shape.in + c) * shape.out + k);
      }
    }
  }
}

int64_t PixelsOf(const ConvShape& shape) { return shape.height * shape.width; }

}  // namespace

bool IsThin(const ConvShape& shape, const Window& window) {
  return window.size == 3 && window.stride == 1 && (shape.in == 1 || shape.in == 3) &&
         shape.out % kLanes == 0;
}

void ThinForward(const ConvShape& shape, std::span<const float> x, std::span<const float> w,
                 std::span<float> y, const KernelOptions& options) {
  Check(IsThin(shape, {}), "not a thin convolution");
  const auto forward =
      options.path == KernelPath::kAvx2 ? thin_avx2::ForwardRow : thin_portable::ForwardRow;
  float* weights = arranged_scratch.Get(w.size());
  EachThinWeight(shape, [&](size_t i, int64_t at) { weights[at] = w[i]; });
  ParallelFor(options.WorkersFor(shape.batch), static_cast<int>(shape.batch), [&](int, int image) {
    Framed framed{shape};
    framed.Take(x.data() + image * PixelsOf(shape) * shape.in);
    float* to = y.data() + image * PixelsOf(shape) * shape.out;
    for (int64_t r = 0; r < shape.height; ++r) {
      forward(framed.Row(r), weights, to + r * shape.width * shape.out);
    }
  });
}

void ThinWeightGradient(const ConvShape& shape, std::span<const float> x, std::span<const float> dy,
                        std::span<float> dw, const KernelOptions& options) {
  Check(IsThin(shape, {}), "not a thin convolution");
  const auto add =
      options.path == KernelPath::kAvx2 ? thin_avx2::WeightRow : thin_portable::WeightRow;
  const int64_t parts = std::min(kParts, shape.batch), size = static_cast<int64_t>(dw.size());
  float* sums = arranged_scratch.Get(static_cast<size_t>(parts * size));
  ParallelFor(options.WorkersFor(parts), static_cast<int>(parts), [&](int, int part) {
    float* sum = sums + part * size;
    std::fill_n(sum, size, 0.0f);
    Framed framed{shape};
    for (int64_t image = part; image < shape.batch; image += parts) {
      framed.Take(x.data() + image * PixelsOf(shape) * shape.in);
      const float* from = dy.data() + image * PixelsOf(shape) * shape.out;
      for (int64_t r = 0; r < shape.height; ++r) {
        add(framed.Row(r), from + r * shape.width * shape.out, sum);
      }
    }
  });
  EachThinWeight(shape, [&](size_t i, int64_t at) {
    float sum = sums[at];
    for (int64_t part = 1; part < parts; ++part) sum += sums[part * size + at];
    dw[i] = sum;
  });
}

}  // namespace kindred

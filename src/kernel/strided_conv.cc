#include "kernel/strided_conv.h"

#include <cblas.h>

#include <algorithm>
#include <vector>

namespace kindred {
namespace {

// Of one image.
struct Patches {
  int64_t rows, width;  // of y; values of a patch
};

Patches PatchesOf(const ConvShape& s, int64_t size) {
  return {(s.height + 1) / 2 * ((s.width + 1) / 2), size * size * s.in};
}

// Calls visit(row of the matrix, place in it, pixel of x or null) for each pixel of each patch.
template <class Visit>
void EachPixel(const ConvShape& s, int64_t size, const Visit& visit) {
  int64_t row = 0;
  for (int64_t h = 0; h < s.height; h += 2) {
    for (int64_t w = 0; w < s.width; w += 2, ++row) {
      for (int64_t a = 0; a < size; ++a) {
        for (int64_t b = 0; b < size; ++b) {
          const int64_t y = h + a - size / 2, x = w + b - size / 2;
          const bool inside = y >= 0 && y < s.height && x >= 0 && x < s.width;
          visit(row, (a * size + b) * s.in, inside ? (y * s.width + x) * s.in : -1);
        }
      }
    }
  }
}

void Gather(const ConvShape& s, int64_t size, const float* x, float* patches) {
  const int64_t width = PatchesOf(s, size).width;
  EachPixel(s, size, [&](int64_t row, int64_t place, int64_t pixel) {
    float* to = patches + row * width + place;
    if (pixel < 0) {
      std::fill(to, to + s.in, 0.0f);
    } else {
      std::copy(x + pixel, x + pixel + s.in, to);
    }
  });
}

// w with the channels of a pixel together, as patches have them: [size size in, out].
std::vector<float> Arranged(const ConvShape& s, int64_t size, std::span<const float> w) {
  const int64_t area = size * size;
  std::vector<float> arranged(w.size());
  for (int64_t k = 0; k < s.out; ++k) {
    for (int64_t c = 0; c < s.in; ++c) {
      for (int64_t i = 0; i < area; ++i) {
        arranged[static_cast<size_t>((i * s.in + c) * s.out + k)] =
            w[static_cast<size_t>((k * s.in + c) * area + i)];
      }
    }
  }
  return arranged;
}

// c = alpha-free product, row-major: c[m, n] = a[m, k] b[k, n] + beta c, a or b transposed.
void Multiply(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a,
              const float* b, float beta, float* c) {
  cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
              transpose_b ? CblasTrans : CblasNoTrans, static_cast<int>(m), static_cast<int>(n),
              static_cast<int>(k), 1, a, static_cast<int>(transpose_a ? m : k), b,
              static_cast<int>(transpose_b ? k : n), beta, c, static_cast<int>(n));
}

}  // namespace

void StridedForward(const ConvShape& s, int64_t size, std::span<const float> x,
                    std::span<const float> w, std::span<float> y) {
  const auto [rows, width] = PatchesOf(s, size);
  const auto weights = Arranged(s, size, w);
  std::vector<float> patches(static_cast<size_t>(rows * width));
  for (int64_t n = 0; n < s.batch; ++n) {
    Gather(s, size, x.data() + n * s.height * s.width * s.in, patches.data());
    Multiply(false, false, rows, s.out, width, patches.data(), weights.data(), 0,
             y.data() + n * rows * s.out);
  }
}

void StridedWeightGradient(const ConvShape& s, int64_t size, std::span<const float> x,
                           std::span<const float> dy, std::span<float> dw) {
  const auto [rows, width] = PatchesOf(s, size);
  std::vector<float> patches(static_cast<size_t>(rows * width)), sum(dw.size(), 0.0f);
  for (int64_t n = 0; n < s.batch; ++n) {
    Gather(s, size, x.data() + n * s.height * s.width * s.in, patches.data());
    Multiply(true, false, width, s.out, rows, patches.data(), dy.data() + n * rows * s.out, 1,
             sum.data());
  }
  const int64_t area = size * size;
  for (int64_t k = 0; k < s.out; ++k) {
    for (int64_t c = 0; c < s.in; ++c) {
      for (int64_t i = 0; i < area; ++i) {
        dw[static_cast<size_t>((k * s.in + c) * area + i)] =
            sum[static_cast<size_t>((i * s.in + c) * s.out + k)];
      }
    }
  }
}

void StridedDataGradient(const ConvShape& s, int64_t size, std::span<const float> dy,
                         std::span<const float> w, bool add, std::span<float> dx) {
  const auto [rows, width] = PatchesOf(s, size);
  const auto weights = Arranged(s, size, w);
  std::vector<float> patches(static_cast<size_t>(rows * width));
  if (!add) std::fill(dx.begin(), dx.end(), 0.0f);
  for (int64_t n = 0; n < s.batch; ++n) {
    Multiply(false, true, rows, width, s.out, dy.data() + n * rows * s.out, weights.data(), 0,
             patches.data());
    float* image = dx.data() + n * s.height * s.width * s.in;
    EachPixel(s, size, [&](int64_t row, int64_t place, int64_t pixel) {
      if (pixel < 0) return;
      const float* from = patches.data() + row * width + place;
      for (int64_t c = 0; c < s.in; ++c) image[pixel + c] += from[c];
    });
  }
}

}  // namespace kindred

#include "kernel/winograd.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"

namespace kindred {
namespace {

std::vector<float> Noise(int64_t count, uint64_t seed) {
  Rng rng({.seed = seed, .purpose = Purpose::kShapes});
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>(rng.Normal());
  return values;
}

// The definition in double: calls visit(y's index, x's index, w's index) for every product.
template <class Visit>
void EachProduct(const ConvShape& s, const Visit& visit) {
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t h = 0; h < s.height; ++h) {
      for (int64_t w = 0; w < s.width; ++w) {
        for (int64_t a = 0; a < 3; ++a) {
          for (int64_t b = 0; b < 3; ++b) {
            const int64_t row = h + a - 1, column = w + b - 1;
            if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
            for (int64_t k = 0; k < s.out; ++k) {
              for (int64_t c = 0; c < s.in; ++c) {
                visit(((n * s.height + h) * s.width + w) * s.out + k,
                      ((n * s.height + row) * s.width + column) * s.in + c,
                      ((k * s.in + c) * 3 + a) * 3 + b);
              }
            }
          }
        }
      }
    }
  }
}

void ExpectClose(const std::vector<float>& own, const std::vector<double>& reference,
                 const std::string& what) {
  double scale = 0, most = 0;
  for (size_t i = 0; i < own.size(); ++i) {
    scale = std::max(scale, std::abs(reference[i]));
    most = std::max(most, std::abs(own[i] - reference[i]));
  }
  EXPECT_LT(most, 5e-5 * scale) << what;
}

struct Results {
  std::vector<float> y, dx, dw;
};

Results Winograd(const ConvShape& s, const KernelOptions& options) {
  const auto x = Noise(s.batch * s.height * s.width * s.in, 1), w = Noise(s.out * s.in * 9, 2),
             dy = Noise(s.batch * s.height * s.width * s.out, 3);
  // Filled with nonsense: all of it must be overwritten.
  Results r = {std::vector<float>(dy.size(), NAN), std::vector<float>(x.size(), NAN),
               std::vector<float>(w.size(), NAN)};
  WinogradForward(s, x, w, r.y, options);
  WinogradDataGradient(s, dy, w, false, r.dx, options);
  WinogradWeightGradient(s, x, dy, r.dw, options);
  return r;
}

std::vector<KernelPath> Paths() {
  std::vector<KernelPath> paths = {KernelPath::kPortable};
  if (BestKernelPath() == KernelPath::kAvx2) paths.push_back(KernelPath::kAvx2);
  return paths;
}

TEST(Winograd, IsTheConvolutionAndItsGradients) {
  for (const ConvShape& s : std::vector<ConvShape>{{1, 1, 1, 1, 1},
                                                   {1, 1, 1, 8, 8},
                                                   {3, 7, 7, 3, 24},
                                                   {2, 7, 5, 24, 3},
                                                   {1, 4, 4, 16, 8},
                                                   {2, 8, 8, 16, 16},
                                                   {5, 6, 9, 9, 17},
                                                   {9, 12, 12, 8, 32},
                                                   {40, 4, 4, 40, 40},
                                                   {24, 16, 16, 8, 8},  // 6 blocks in 4 parts
                                                   {300, 1, 1, 256, 256}}) {
    const auto x = Noise(s.batch * s.height * s.width * s.in, 1), w = Noise(s.out * s.in * 9, 2),
               dy = Noise(s.batch * s.height * s.width * s.out, 3);
    std::vector<double> y(dy.size()), dx(x.size()), dw(w.size());
    EachProduct(s, [&](int64_t at_y, int64_t at_x, int64_t at_w) {
      const auto i = static_cast<size_t>(at_y), j = static_cast<size_t>(at_x),
                 k = static_cast<size_t>(at_w);
      y[i] += double{x[j]} * w[k];
      dx[j] += double{dy[i]} * w[k];
      dw[k] += double{dy[i]} * x[j];
    });
    for (const KernelPath path : Paths()) {
      const std::string what = std::to_string(s.batch) + "x" + std::to_string(s.height) + "x" +
                               std::to_string(s.width) + ", " + std::to_string(s.in) + " to " +
                               std::to_string(s.out) +
                               (path == KernelPath::kAvx2 ? " AVX2" : " portable");
      const Results own = Winograd(s, {.path = path});
      ExpectClose(own.y, y, "y of " + what);
      ExpectClose(own.dx, dx, "dx of " + what);
      ExpectClose(own.dw, dw, "dw of " + what);
    }
  }
}

TEST(Winograd, WorkersChangeNoBit) {
  for (const ConvShape& s : {ConvShape{16, 14, 14, 16, 24}, ConvShape{20, 8, 8, 168, 184}})
    for (const KernelPath path : Paths()) {
      const Results one = Winograd(s, {.path = path, .workers = 1});
      for (const int workers : {2, 3, 7}) {
        const Results many = Winograd(s, {.path = path, .workers = workers});
        EXPECT_EQ(one.y, many.y);
        EXPECT_EQ(one.dx, many.dx);
        EXPECT_EQ(one.dw, many.dw);
      }
    }
}

TEST(Winograd, AddsTheDataGradientToWhatIsThere) {
  const ConvShape s = {2, 6, 7, 9, 12};
  const auto w = Noise(s.out * s.in * 9, 2), dy = Noise(s.batch * s.height * s.width * s.out, 3);
  const auto before = Noise(s.batch * s.height * s.width * s.in, 4);
  for (const KernelPath path : Paths()) {
    std::vector<float> alone(before.size()), added = before;
    WinogradDataGradient(s, dy, w, false, alone, {.path = path});
    WinogradDataGradient(s, dy, w, true, added, {.path = path});
    for (size_t i = 0; i < added.size(); ++i) EXPECT_EQ(added[i], alone[i] + before[i]);
  }
}

}  // namespace
}  // namespace kindred

#include "kernel/conv.h"

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
void EachProduct(const ConvShape& s, const Window& window, const Visit& visit) {
  const int64_t stride = window.stride, border = window.size / 2;
  const int64_t height = (s.height + stride - 1) / stride, width = (s.width + stride - 1) / stride;
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t h = 0; h < height; ++h) {
      for (int64_t w = 0; w < width; ++w) {
        for (int64_t a = 0; a < window.size; ++a) {
          for (int64_t b = 0; b < window.size; ++b) {
            const int64_t row = stride * h + a - border, column = stride * w + b - border;
            if (row < 0 || row >= s.height || column < 0 || column >= s.width) continue;
            for (int64_t k = 0; k < s.out; ++k) {
              for (int64_t c = 0; c < s.in; ++c) {
                visit(((n * height + h) * width + w) * s.out + k,
                      ((n * s.height + row) * s.width + column) * s.in + c,
                      ((k * s.in + c) * window.size + a) * window.size + b);
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

int64_t Outputs(const ConvShape& s, int64_t stride) {
  return s.batch * ((s.height + stride - 1) / stride) * ((s.width + stride - 1) / stride) * s.out;
}

int64_t Weights(const ConvShape& s, const Window& window) {
  return s.out * s.in * window.size * window.size;
}

Results Convolved(const ConvShape& s, const Window& window, const KernelOptions& options) {
  const auto x = Noise(s.batch * s.height * s.width * s.in, 1), w = Noise(Weights(s, window), 2),
             dy = Noise(Outputs(s, window.stride), 3);
  // Filled with nonsense: all of it must be overwritten.
  Results r = {std::vector<float>(dy.size(), NAN), std::vector<float>(x.size(), NAN),
               std::vector<float>(w.size(), NAN)};
  ConvForward(s, window, x, w, r.y, options);
  ConvDataGradient(s, window, dy, w, false, r.dx, options);
  ConvWeightGradient(s, window, x, dy, r.dw, options);
  return r;
}

class ConvByWindow : public testing::TestWithParam<Window> {};
INSTANTIATE_TEST_SUITE_P(Conv, ConvByWindow,
                         testing::Values(Window{3, 1}, Window{3, 2}, Window{1, 1}, Window{1, 2}));

std::vector<KernelPath> Paths() {
  std::vector<KernelPath> paths = {KernelPath::kPortable};
  if (BestKernelPath() == KernelPath::kAvx2) paths.push_back(KernelPath::kAvx2);
  return paths;
}

void ExpectTheConvolution(const ConvShape& s, const Window& window) {
  const auto x = Noise(s.batch * s.height * s.width * s.in, 1), w = Noise(Weights(s, window), 2),
             dy = Noise(Outputs(s, window.stride), 3);
  std::vector<double> y(dy.size()), dx(x.size()), dw(w.size());
  EachProduct(s, window, [&](int64_t at_y, int64_t at_x, int64_t at_w) {
    const auto i = static_cast<size_t>(at_y), j = static_cast<size_t>(at_x),
               k = static_cast<size_t>(at_w);
    y[i] += double{x[j]} * w[k];
    dx[j] += double{dy[i]} * w[k];
    dw[k] += double{dy[i]} * x[j];
  });
  for (const KernelPath path : Paths()) {
    const std::string what = std::to_string(s.batch) + "x" + std::to_string(s.height) + "x" +
                             std::to_string(s.width) + ", " + std::to_string(s.in) + " to " +
                             std::to_string(s.out) + ", " + std::to_string(window.size) + " / " +
                             std::to_string(window.stride) +
                             (path == KernelPath::kAvx2 ? " AVX2" : " portable");
    const Results own = Convolved(s, window, {.path = path});
    ExpectClose(own.y, y, "y of " + what);
    ExpectClose(own.dx, dx, "dx of " + what);
    ExpectClose(own.dw, dw, "dw of " + what);
  }
}

TEST_P(ConvByWindow, IsTheConvolutionAndItsGradients) {
  // The last two have more blocks of tiles than a weight gradient has parts, with stride 1 and 2.
  for (const ConvShape& s : std::vector<ConvShape>{{1, 1, 1, 1, 1},
                                                   {1, 1, 1, 8, 8},
                                                   {3, 7, 7, 3, 24},
                                                   {11, 9, 6, 3, 16},
                                                   {9, 6, 7, 1, 40},
                                                   {2, 5, 5, 3, 5},
                                                   {2, 5, 4, 70, 72},
                                                   {2, 7, 5, 24, 3},
                                                   {1, 4, 4, 16, 8},
                                                   {2, 8, 8, 16, 16},
                                                   {5, 6, 9, 9, 17},
                                                   {9, 12, 12, 8, 32},
                                                   {40, 4, 4, 40, 40},
                                                   {3, 17, 15, 16, 24},
                                                   {70, 8, 8, 8, 8},
                                                   {24, 16, 16, 8, 8},
                                                   {72, 16, 16, 8, 8}}) {
    ExpectTheConvolution(s, GetParam());
  }
}

TEST_P(ConvByWindow, IsTheConvolutionWhereWeightsAreMany) {
  ExpectTheConvolution({140, 1, 1, 256, 256}, GetParam());
}

TEST_P(ConvByWindow, WorkersChangeNoBit) {
  const Window window = GetParam();
  for (const ConvShape& s : {ConvShape{16, 14, 14, 16, 24}, ConvShape{20, 8, 8, 168, 184},
                             ConvShape{20, 9, 7, 3, 24}, ConvShape{20, 9, 7, 1, 16}})
    for (const KernelPath path : Paths()) {
      const Results one = Convolved(s, window, {.path = path, .workers = 1});
      for (const int workers : {2, 3, 7}) {
        const Results many = Convolved(s, window, {.path = path, .workers = workers});
        EXPECT_EQ(one.y, many.y);
        EXPECT_EQ(one.dx, many.dx);
        EXPECT_EQ(one.dw, many.dw);
      }
    }
}

TEST_P(ConvByWindow, AddsTheDataGradientToWhatIsThere) {
  const Window window = GetParam();
  const ConvShape s = {2, 6, 7, 9, 12};
  const auto w = Noise(Weights(s, window), 2), dy = Noise(Outputs(s, window.stride), 3);
  const auto before = Noise(s.batch * s.height * s.width * s.in, 4);
  for (const KernelPath path : Paths()) {
    std::vector<float> alone(before.size()), added = before;
    ConvDataGradient(s, window, dy, w, false, alone, {.path = path});
    ConvDataGradient(s, window, dy, w, true, added, {.path = path});
    for (size_t i = 0; i < added.size(); ++i) EXPECT_EQ(added[i], alone[i] + before[i]);
  }
}

}  // namespace
}  // namespace kindred

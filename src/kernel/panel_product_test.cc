#include "kernel/panel_product.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"
#include "kernel/kernel_path.h"

namespace kindred {
namespace {

std::vector<float> RandomPanels(const Panels& panels, uint64_t seed) {
  Rng rng({.seed = seed, .purpose = Purpose::kShapes});
  std::vector<float> values(static_cast<size_t>(panels.position));
  for (float& value : values) value = static_cast<float>(rng.Normal());
  return values;
}

TEST(Panels, HaveAPlaceForEveryValue) {
  for (const int64_t columns : {1, 8, 16, 24, 32, 40, 96}) {
    const Panels panels(5, columns);
    EXPECT_GE(panels.columns, columns);
    EXPECT_EQ(panels.Width() * panels.Count(), panels.columns);
    std::vector<bool> used(static_cast<size_t>(panels.position));
    for (int64_t r = 0; r < panels.rows; ++r) {
      for (int64_t c = 0; c < panels.columns; ++c) {
        const auto at = static_cast<size_t>(panels.At(r, c));
        ASSERT_LT(at, used.size());
        EXPECT_FALSE(used[at]);
        used[at] = true;
      }
    }
  }
}

struct Sizes {
  int64_t rows, inner, columns;
};

TEST(PanelProduct, IsTheProduct) {
  for (const Sizes& s : std::vector<Sizes>{{8, 8, 8}, {64, 32, 64}, {24, 48, 16}, {40, 8, 96}}) {
    const Panels a(s.rows, s.inner), b(a.columns, s.columns), c(s.rows, s.columns);
    const auto left = RandomPanels(a, 1), right = RandomPanels(b, 2);
    std::vector<float> product(static_cast<size_t>(c.position), NAN);
    PanelProduct{a, b}(left.data(), right.data(), product.data());
    for (int64_t r = 0; r < s.rows; ++r) {
      for (int64_t k = 0; k < s.columns; ++k) {
        double sum = 0;
        for (int64_t i = 0; i < s.inner; ++i) {
          sum += double{left[static_cast<size_t>(a.At(r, i))]} *
                 right[static_cast<size_t>(b.At(i, k))];
        }
        EXPECT_NEAR(product[static_cast<size_t>(c.At(r, k))], sum, 1e-4);
      }
    }
  }
}

TEST(PanelProduct, OfTheGradientIsTheProductOrIsAdded) {
  for (const Sizes& s : std::vector<Sizes>{{8, 8, 8}, {64, 32, 64}, {24, 64, 16}, {40, 16, 96}}) {
    const Panels a(s.inner, s.rows), b(s.inner, s.columns), c(a.columns, s.columns);
    const auto left = RandomPanels(a, 1), right = RandomPanels(b, 2), before = RandomPanels(c, 3);
    for (const bool add : {false, true}) {
      auto product = before;
      PanelGradientProduct{a, b, add}(left.data(), right.data(), product.data());
      for (int64_t r = 0; r < s.rows; ++r) {
        for (int64_t k = 0; k < s.columns; ++k) {
          const auto at = static_cast<size_t>(c.At(r, k));
          double sum = add ? before[at] : 0;
          for (int64_t i = 0; i < s.inner; ++i) {
            sum += double{left[static_cast<size_t>(a.At(i, r))]} *
                   right[static_cast<size_t>(b.At(i, k))];
          }
          EXPECT_NEAR(product[at], sum, 1e-4);
        }
      }
    }
  }
}

TEST(KernelPath, IsWhatTheCpuHas) {
  EXPECT_EQ(BestKernelPath() == KernelPath::kAvx2,
            __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
  EXPECT_EQ((KernelOptions{.workers = 7}.WorkersFor(3)), 3);
  EXPECT_EQ((KernelOptions{.workers = 0}.WorkersFor(3)), 1);
}

}  // namespace
}  // namespace kindred

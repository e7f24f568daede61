#include "model/distance.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>

#include "base/rng.h"

namespace kindred {
namespace {

TEST(Distance, IsThatOfPlainLoopsForAnySize) {
  Rng rng({.seed = 4, .purpose = Purpose::kInit});
  for (const size_t size : {0, 1, 7, 8, 9, 4095, 4096, 4097, 10000}) {
    std::vector<float> a(size), b(size);
    double expected = 0, own = 0;
    for (size_t i = 0; i < size; ++i) {
      a[i] = static_cast<float>(rng.Uniform(-3, 3));
      b[i] = static_cast<float>(rng.Uniform(-3, 3));
      const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
      expected += d * d;
      own += static_cast<double>(a[i]) * static_cast<double>(a[i]);
    }
    const ValuesSeen seen = CompareValues(a.data(), b.data(), size);
    EXPECT_NEAR(seen.squared, expected, 1e-12 * expected) << size;
    EXPECT_NEAR(CompareValues(a.data(), nullptr, size).squared, own, 1e-12 * own) << size;
    EXPECT_TRUE(seen.in_range);
  }
}

TEST(Distance, SeesABadValueAtAnyPlace) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> a(4200, 1.0f), b(4200, 0.0f);
  for (const size_t place : {0, 5, 4095, 4096, 4199}) {
    for (const float bad : {NAN, -NAN, kInfinity, -kInfinity, 0x1p20f, -0x1p20f, 3e38f}) {
      a[place] = bad;
      EXPECT_FALSE(CompareValues(a.data(), b.data(), a.size()).in_range) << place << ' ' << bad;
    }
    a[place] = -0x1.fffffep19f;
    EXPECT_TRUE(CompareValues(a.data(), b.data(), a.size()).in_range) << place;
    a[place] = 1;
  }
}

TEST(Distance, GoesOverAllFloatsAndNoCounter) {
  const NamedTensors a = {{"w", torch::tensor({3.0f, 0.0f})},
                          {"bn.running_mean", torch::tensor({4.0f})},
                          {"n", torch::full({}, 100, torch::kInt64)}};
  NamedTensors b = Clone(a);
  for (auto& [name, tensor] : b) tensor.zero_();
  EXPECT_EQ(SquaredDistance(a, b), 25);  // 9 + 16
  EXPECT_EQ(NormOf(a), 5);
}

}  // namespace
}  // namespace kindred

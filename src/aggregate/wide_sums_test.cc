#include "aggregate/wide_sums.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/rng.h"

namespace kindred {
namespace {

// The plain twin: the float as a multiple of 2^-80, cut towards zero, then x weight.
__int128 PlainWeighted(float value, int64_t weight) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const int exponent = static_cast<int>(bits >> 23 & 0xff);
  __int128 mantissa = static_cast<__int128>(bits & 0x7fffff) | (exponent > 0 ? 0x800000 : 0);
  const int shift = std::max(exponent, 1) - 150 + WideSums::kFraction;
  mantissa = shift >= 0 ? mantissa << shift : (shift > -32 ? mantissa >> -shift : 0);
  return (bits >> 31 ? -mantissa : mantissa) * weight;
}

// Of every exponent there may be, both signs; zeros and denormals.
std::vector<float> WideValues(size_t size, uint64_t seed) {
  Rng rng({.seed = seed, .purpose = Purpose::kInit});
  std::vector<float> values = {0,
                               -0.0f,
                               std::nextafter(0x1p20f, 0.0f),
                               -std::nextafter(0x1p20f, 0.0f),
                               std::numeric_limits<float>::denorm_min(),
                               -std::numeric_limits<float>::min(),
                               0x1p-57f,
                               -0x1p-57f,
                               0x1.fffffep-58f,
                               -0x1.fffffep-80f,
                               0x1p-81f};
  while (values.size() < size) {
    const double value = std::exp2(rng.Uniform(-130, 20));
    values.push_back(static_cast<float>(rng.Chance(0.5) ? -value : value));
  }
  return values;
}

TEST(WideSums, AreThePlainLoops) {
  constexpr size_t kSize = 5003;
  WideSums sums(kSize);
  std::vector<__int128> plain(kSize, 0);
  int64_t left = (int64_t{1} << 26) - 1;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const auto values = WideValues(kSize, seed);
    const int64_t weight = seed == 7 ? left : int64_t{1} << (3 * seed);
    left -= weight;
    sums.Add(values, static_cast<uint32_t>(weight));
    for (size_t i = 0; i < kSize; ++i) plain[i] += PlainWeighted(values[i], weight);
  }
  for (size_t i = 0; i < kSize; ++i) ASSERT_TRUE(sums.At(i) == plain[i]) << i;
}

TEST(WideSums, OfSumsAreTheSameSums) {
  constexpr size_t kSize = 1001;
  WideSums all(kSize), left(kSize), right(kSize);
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const auto values = WideValues(kSize, seed);
    all.Add(values, 1000 + static_cast<uint32_t>(seed));
    (seed % 2 == 0 ? left : right).Add(values, 1000 + static_cast<uint32_t>(seed));
  }
  left.Add(right.Low(), right.High());
  for (size_t i = 0; i < kSize; ++i) ASSERT_TRUE(left.At(i) == all.At(i)) << i;
}

}  // namespace
}  // namespace kindred

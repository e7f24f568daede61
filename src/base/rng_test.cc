#include "base/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace kindred {
namespace {

// Random123's published known answers for Philox4x64-10 (kat_vectors): counter and key all zero,
// and all ones.
TEST(Philox, GivesThePublishedKnownAnswers) {
  r123::Philox4x64 philox;
  const auto zero = philox({{0, 0, 0, 0}}, {{0, 0}});
  EXPECT_EQ(zero[0], 0x16554d9eca36314cull);
  EXPECT_EQ(zero[1], 0xdb20fe9d672d0fdcull);
  EXPECT_EQ(zero[2], 0xd7e772cee186176bull);
  EXPECT_EQ(zero[3], 0x7e68b68aec7ba23bull);
  const uint64_t ones = ~0ull;
  EXPECT_EQ(philox({{ones, ones, ones, ones}}, {{ones, ones}})[0], 0x87b092c3013fe90bull);
}

TEST(Rng, StreamsWithDifferentKeysDiffer) {
  const RngKey base = {
      .seed = 1, .purpose = Purpose::kViews, .round = 2, .client = 3, .epoch = 4, .sample = 5};
  std::set<uint64_t> first;
  const auto add = [&](auto change) {
    RngKey key = base;
    change(key);
    first.insert(Rng(key)());
  };
  add([](RngKey&) {});
  add([](RngKey& key) { key.seed = 9; });
  add([](RngKey& key) { key.purpose = Purpose::kShapes; });
  add([](RngKey& key) { key.round = 9; });
  add([](RngKey& key) { key.client = 9; });
  add([](RngKey& key) { key.epoch = 9; });
  add([](RngKey& key) { key.sample = 9; });
  add([](RngKey& key) { key.part = 9; });
  add([](RngKey& key) { std::swap(key.round, key.epoch); });
  EXPECT_EQ(first.size(), 9u);
}

TEST(Rng, ACopyGivesTheSameNumbers) {
  Rng a({.purpose = Purpose::kViews});
  a();
  Rng b = a;
  for (int i = 0; i < 20; ++i) EXPECT_EQ(a(), b());
}

// Mean 1/2, variance 1/12: 100,000 draws put the mean within 5 standard errors of .00091 each.
TEST(Rng, UniformFillsTheUnitInterval) {
  Rng rng({.purpose = Purpose::kViews});
  double sum = 0, least = 1, most = 0;
  for (int i = 0; i < 100000; ++i) {
    const double u = rng.Uniform();
    sum += u;
    least = std::min(least, u);
    most = std::max(most, u);
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.005);
  EXPECT_GE(least, 0.0);
  EXPECT_LT(least, 0.001);
  EXPECT_LT(most, 1.0);
  EXPECT_GT(most, 0.999);
}

// Each of 7 values is expected 10,000 times, deviation 93.
TEST(Rng, BelowIsUniform) {
  Rng rng({.purpose = Purpose::kViews});
  std::map<uint64_t, int> counts;
  for (int i = 0; i < 70000; ++i) ++counts[rng.Below(7)];
  ASSERT_EQ(counts.size(), 7u);
  for (const auto& [value, count] : counts) {
    EXPECT_LT(value, 7u);
    EXPECT_NEAR(count, 10000, 500);
  }
}

TEST(Rng, PermutationHoldsEachNumberOnceAndMovesThem) {
  Rng rng({.purpose = Purpose::kViews});
  const auto order = rng.Permutation(1000);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(std::set<int>(order.begin(), order.end()).size(), 1000u);
  EXPECT_EQ(*std::max_element(order.begin(), order.end()), 999);
}

// Each of 10 numbers in 3 of 10 samples: 1,200 of 4,000 with a deviation of sqrt(4000 .3 .7) = 29.
TEST(Rng, ASampleHasDifferentNumbersAllEquallyLikely) {
  Rng rng({.seed = 1, .purpose = Purpose::kCandidates});
  std::map<int64_t, int> seen;
  for (int i = 0; i < 4000; ++i) {
    const auto sample = rng.Sample(10, 3);
    ASSERT_EQ(sample.size(), 3u);
    EXPECT_TRUE(sample[0] < sample[1] && sample[1] < sample[2]);
    for (const int64_t each : sample) ++seen[each];
  }
  ASSERT_EQ(seen.size(), 10u);
  for (const auto& [number, count] : seen) EXPECT_NEAR(count, 1200, 5 * 29) << number;
  EXPECT_TRUE(rng.Sample(0, 0).empty());
  EXPECT_EQ(rng.Sample(4, 4), (std::vector<int64_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace kindred

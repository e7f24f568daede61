#include "server/capped_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/rng.h"

namespace kindred {
namespace {

TEST(CappedWeights, HandValue) {
  const std::map<int, int64_t> images = {{0, 100}, {3, 10}, {7, 10}};
  EXPECT_EQ(CappedWeights(images, {}), images);
  // t / (t + 20) = .5: t = 20.
  EXPECT_EQ(CappedWeights(images, {.any = 0.5}),
            (std::map<int, int64_t>{{0, 20}, {3, 10}, {7, 10}}));
  // Nobody can be below a third of three.
  EXPECT_EQ(CappedWeights(images, {.any = 0.2}),
            (std::map<int, int64_t>{{0, 10}, {3, 10}, {7, 10}}));
  EXPECT_TRUE(CappedWeights({}, {.any = 0.5}).empty());
}

TEST(CappedWeights, NobodyHasMoreThanTheShareAndTheSmallAreUntouched) {
  Rng rng({.seed = 2, .purpose = Purpose::kInit});
  for (int turn = 0; turn < 300; ++turn) {
    std::map<int, int64_t> images;
    const int count = 2 + static_cast<int>(rng.Below(12));
    for (int c = 0; c < count; ++c) {
      images[c] = static_cast<int64_t>(std::pow(10, rng.Uniform(1, 7)));
    }
    const double share = rng.Uniform(1.0 / count, 1);
    int64_t sum = 0, most = 0;
    const auto weights = CappedWeights(images, {.any = share});
    for (const auto& [client, weight] : weights) {
      sum += weight;
      most = std::max(most, weight);
    }
    for (const auto& [client, weight] : weights) {
      EXPECT_GE(weight, 1);
      EXPECT_LE(static_cast<double>(weight), share * static_cast<double>(sum) + 1);
      EXPECT_TRUE(weight == images.at(client) || weight == most);
    }
  }
}

TEST(CappedWeights, WhoseNumberIsCertifiedIsNotCutByTheLimitOfClaims) {
  const std::map<int, int64_t> images = {{0, 4194304}, {1, 1000}, {2, 3000}};
  // The liar has half, whatever it says.
  EXPECT_EQ(CappedWeights(images, {.claimed = 0.5}, {0, 1, 2}),
            (std::map<int, int64_t>{{0, 4000}, {1, 1000}, {2, 3000}}));
  EXPECT_EQ(CappedWeights(images, {.claimed = 0.5}, {1, 2}), images) << "certified";
  // Two that are cut, beside one that is certified: t = .3 x (1000 + 2 t), so t = 750.
  EXPECT_EQ(CappedWeights(images, {.claimed = 0.3}, {0, 2}),
            (std::map<int, int64_t>{{0, 750}, {1, 1000}, {2, 750}}));
  // Both limits: first to 4000 of 8000, then 4000 and 3000 to .4 of the sum: t = .4 x 1000 / .2.
  EXPECT_EQ(CappedWeights(images, {.any = 0.4, .claimed = 0.5}, {0, 1, 2}),
            (std::map<int, int64_t>{{0, 2000}, {1, 1000}, {2, 2000}}));
}

TEST(CappedWeights, OnlySoManyOfTheLargestAreEverCut) {
  Rng rng({.seed = 5, .purpose = Purpose::kInit});
  for (int turn = 0; turn < 500; ++turn) {
    std::map<int, int64_t> images;
    std::set<int> claims;
    const int count = 1 + static_cast<int>(rng.Below(12));
    for (int c = 0; c < count; ++c) {
      images[c] = static_cast<int64_t>(std::pow(10, rng.Uniform(0, 6)));
      if (rng.Uniform() < 0.6) claims.insert(c);
    }
    const ShareLimits limits = {.any = rng.Uniform() < 0.3 ? 1 : rng.Uniform(0.05, 1),
                                .claimed = rng.Uniform() < 0.3 ? 1 : rng.Uniform(0.05, 1)};
    std::vector<int64_t> sizes;
    for (const auto& [client, size] : images) sizes.push_back(size);
    std::sort(sizes.rbegin(), sizes.rend());
    const auto weights = CappedWeights(images, limits, claims);
    int cut = 0;
    for (const auto& [client, weight] : weights) {
      EXPECT_GE(weight, 1);
      if (weight == images.at(client)) continue;
      ++cut;
      ASSERT_LE(cut, MostCut(limits));
      EXPECT_GE(images.at(client),
                sizes.at(static_cast<size_t>(std::min(count, MostCut(limits)) - 1)));
    }
  }
}

}  // namespace
}  // namespace kindred

#include "server/capped_weights.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"

namespace kindred {
namespace {

TEST(CappedWeights, HandValue) {
  const std::map<int, int64_t> images = {{0, 100}, {3, 10}, {7, 10}};
  EXPECT_EQ(CappedWeights(images, 1), images);
  // t / (t + 20) = .5: t = 20.
  EXPECT_EQ(CappedWeights(images, 0.5), (std::map<int, int64_t>{{0, 20}, {3, 10}, {7, 10}}));
  // Nobody can be below a third of three.
  EXPECT_EQ(CappedWeights(images, 0.2), (std::map<int, int64_t>{{0, 10}, {3, 10}, {7, 10}}));
  EXPECT_TRUE(CappedWeights({}, 0.5).empty());
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
    const auto weights = CappedWeights(images, share);
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

}  // namespace
}  // namespace kindred

#include "model/feature_spread.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

namespace kindred {
namespace {

TEST(FeatureSpread, OfOnePointIsACollapse) {
  const auto row = torch::nn::functional::normalize(torch::ones({1, 16}));
  const FeatureSpread spread = SpreadOf(row.repeat({10, 1}));
  EXPECT_NEAR(spread.cosine, 1, 1e-6);
  EXPECT_NEAR(spread.std, 0, 1e-6);
  EXPECT_NEAR(spread.rank, 1, 1e-4);
}

// The 2 D unit vectors +-e_d: pairs have cosine 0, but D of them -1: -D / (2D (2D - 1) / 2). Every
// coordinate is 1, -1 once and 0 else: deviation sqrt(2 / 2D), times sqrt(D): 1.
TEST(FeatureSpread, OfAllDirectionsIsWhole) {
  constexpr int kDim = 8;
  const auto eye = torch::eye(kDim);
  const FeatureSpread spread = SpreadOf(torch::cat({eye, -eye}));
  EXPECT_NEAR(spread.cosine, -1.0 / (2 * kDim - 1), 1e-6);
  EXPECT_NEAR(spread.std, 1, 1e-6);
  EXPECT_NEAR(spread.rank, kDim, 1e-4);
}

// Three rows along one axis and one along another: eigenvalues 3/4 and 1/4.
TEST(FeatureSpread, RankIsTheExponentOfTheEntropy) {
  const auto rows = torch::tensor({{1.0f, 0.0f}, {1.0f, 0.0f}, {1.0f, 0.0f}, {0.0f, 1.0f}});
  EXPECT_NEAR(SpreadOf(rows).rank, std::exp(-0.75 * std::log(0.75) - 0.25 * std::log(0.25)), 1e-6);
}

TEST(FeatureSpread, OfLessThanTwoRowsIsNothing) {
  EXPECT_EQ(SpreadOf(torch::ones({1, 1})).rank, 0);
  EXPECT_EQ(SpreadOf(torch::empty({0, 4})).cosine, 0);
}

}  // namespace
}  // namespace kindred

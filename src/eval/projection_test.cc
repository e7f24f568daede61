#include "eval/projection.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace kindred {
namespace {

TEST(PrincipalPlane, FindsTheAxesThatVaryMost) {
  // Deviations 5 and 2 along known directions of four dimensions, .1 elsewhere.
  torch::manual_seed(2);
  const auto first = torch::tensor({0.6, 0.8, 0.0, 0.0}, torch::kDouble);
  const auto second = torch::tensor({0.0, 0.0, -1.0, 0.0}, torch::kDouble);
  const auto a = 5 * torch::randn({2000, 1}, torch::kDouble);
  const auto b = 2 * torch::randn({2000, 1}, torch::kDouble);
  const auto rows = a * first + b * second + 0.1 * torch::randn({2000, 4}, torch::kDouble) + 7;
  const Projection projection = PrincipalPlane(rows);
  const auto expected = torch::cat({a - a.mean(), -(b - b.mean())}, 1);  // signs: largest positive
  EXPECT_LT((projection.points - expected).abs().mean().item<double>(), 0.2);
  // (25 + 4 + .02) of (25 + 4 + .04).
  EXPECT_NEAR(projection.explained, 0.999, 0.001);
}

TEST(PrincipalPlane, OfOnePointIsThatPoint) {
  const Projection projection = PrincipalPlane(torch::ones({1, 3}));
  EXPECT_EQ(projection.points.abs().max().item<double>(), 0);
  EXPECT_EQ(projection.explained, 0);
}

}  // namespace
}  // namespace kindred

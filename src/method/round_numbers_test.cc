#include "method/round_numbers.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace kindred {
namespace {

TEST(RoundNumbers, AreMeansOverTheStepsThatGaveThem) {
  RoundNumbers numbers;
  numbers.Count("often", 1);
  numbers.Count("often", 2);
  numbers.Count("often", 6);
  numbers.Count("once", 5);
  EXPECT_EQ(numbers.End(), (Metrics{{"often", 3}, {"once", 5}}));
  numbers.Begin();
  EXPECT_TRUE(numbers.End().empty());
}

TEST(RoundNumbers, SpreadIsThatOfTheLastSteps) {
  RoundNumbers numbers;
  torch::manual_seed(1);
  numbers.Saw(torch::nn::functional::normalize(torch::randn({300, 8})));
  const double spread = numbers.End().at("feature_rank");
  EXPECT_GT(spread, 6) << "random directions";
  // 500 rows that are all one: the random ones are still among the last 512 or more.
  const auto one = torch::nn::functional::normalize(torch::ones({500, 8}));
  numbers.Saw(one);
  EXPECT_GT(numbers.End().at("feature_rank"), 1.5);
  numbers.Saw(one);
  EXPECT_NEAR(numbers.End().at("feature_cosine"), 1, 1e-5);
  EXPECT_NEAR(numbers.End().at("feature_rank"), 1, 1e-2);
}

}  // namespace
}  // namespace kindred

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
  const auto random = torch::nn::functional::normalize(torch::randn({300, 8})),
             one = torch::nn::functional::normalize(torch::ones({500, 8}));
  const auto after = [&](const std::vector<at::Tensor>& steps) {
    for (const auto& step : steps) numbers.Saw(step);
    return numbers.End();
  };
  EXPECT_GT(after({random}).at("feature_rank"), 6) << "random directions";
  // 500 rows that are all one: the random ones are still among the last 512 or more.
  EXPECT_GT(after({random, one}).at("feature_rank"), 1.5);
  const Metrics last = after({random, one, one});
  EXPECT_NEAR(last.at("feature_cosine"), 1, 1e-5);
  EXPECT_NEAR(last.at("feature_rank"), 1, 1e-2);
  EXPECT_TRUE(numbers.End().empty()) << "the round is forgotten";
}

}  // namespace
}  // namespace kindred

#include "eval/score.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

namespace kindred {
namespace {

TEST(ScoreOf, CountsWhatIsTakenForWhat) {
  const Score score = ScoreOf(std::vector<int>{0, 0, 1, 2, 2}, std::vector<int>{0, 1, 1, 2, 0}, 4);
  EXPECT_DOUBLE_EQ(score.accuracy, 3.0 / 5);
  EXPECT_EQ(score.confusion, (std::vector<std::vector<int>>{
                                 {1, 0, 1, 0}, {1, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 0}}));
  EXPECT_DOUBLE_EQ(score.per_class[0], 0.5);
  EXPECT_DOUBLE_EQ(score.per_class[2], 1);
  EXPECT_TRUE(std::isnan(score.per_class[3])) << "no image of that class";
}

TEST(Argmax, OfEqualValuesTheFirst) {
  EXPECT_EQ(Argmax(torch::tensor({{1.0f, 3.0f, 3.0f}, {-1.0f, -2.0f, -3.0f}})),
            (std::vector<int>{1, 0}));
}

TEST(MeanAndDeviation, IsASamples) {
  // 1, 2, 6: mean 3, squares 4 + 1 + 9 = 14, over n - 1 = 2.
  const MeanDeviation over = MeanAndDeviation(std::vector<double>{1, 2, 6});
  EXPECT_DOUBLE_EQ(over.mean, 3);
  EXPECT_DOUBLE_EQ(over.deviation, std::sqrt(7.0));
  EXPECT_EQ(MeanAndDeviation(std::vector<double>{0.4}).deviation, 0);
}

}  // namespace
}  // namespace kindred

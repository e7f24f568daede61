#include "loss/rotation.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "tests/golden_steps.h"

namespace kindred {
namespace {

TEST(FourTurns, AreQuartersCounterclockwise) {
  // 0 1      1 3      3 2      2 0
  // 2 3  ->  0 2  ->  1 0  ->  3 1
  const auto x = torch::arange(4, torch::kFloat).view({1, 1, 2, 2});
  const auto expected =
      torch::tensor({0, 1, 2, 3, 1, 3, 0, 2, 3, 2, 1, 0, 2, 0, 3, 1}, torch::kFloat);
  EXPECT_TRUE(torch::equal(FourTurns(x).view(-1), expected));
}

TEST(FourTurns, ComeInTheOrderOfTheirLabels) {
  torch::manual_seed(1);
  const auto x = torch::randn({3, 2, 5, 5});
  const auto turned = FourTurns(x), turns = TurnsOf(3);
  ASSERT_EQ(turned.size(0), 12);
  ASSERT_EQ(turns.size(0), 12);
  for (int64_t row = 0; row < 12; ++row) {
    auto image = x[row % 3];
    const auto turn = turns[row].item<int64_t>();
    for (int64_t i = 0; i < turn; ++i) image = image.transpose(1, 2).flip(1);
    EXPECT_TRUE(torch::equal(turned[row], image)) << row;
  }
}

TEST(RotationLoss, IsTheFormulaWrittenOut) {
  const auto logits = GoldenRows(8, 4, 0.7) * 3;
  double expected = 0;
  for (int64_t i = 0; i < 8; ++i) {
    double sum = 0;
    for (int64_t r = 0; r < 4; ++r) sum += std::exp(logits[i][r].item<double>());
    expected += (std::log(sum) - logits[i][i / 2].item<double>()) / 8;
  }
  EXPECT_NEAR(RotationLoss(logits).item<double>(), expected, 1e-12);
  EXPECT_NEAR(RotationLoss(torch::zeros({8, 4})).item<double>(), std::log(4.0), 1e-6);
}

TEST(RotationLoss, GradientIsThatOfFiniteDifferencesAndPyTorchs) {
  const auto logits = GoldenRows(12, 4, 0.7).requires_grad_();
  const auto gradient = torch::autograd::grad({RotationLoss(logits)}, {logits})[0];
  const auto slopes =
      SlopesOf([&](const at::Tensor& x) { return RotationLoss(x).item<double>(); }, logits);
  EXPECT_TRUE(torch::allclose(gradient, slopes, 1e-6, 1e-9));
  ExpectGoldenLoss(RotationLoss(logits), {logits}, "rotation");
}

}  // namespace
}  // namespace kindred

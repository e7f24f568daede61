#include "loss/swapped_prediction.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "loss/sinkhorn.h"
#include "tests/golden_steps.h"

namespace kindred {
namespace {

double SwappedByLoops(const at::Tensor& s1, const at::Tensor& s2, const at::Tensor& q1,
                      const at::Tensor& q2, double tau) {
  const auto one = [&](const at::Tensor& scores, const at::Tensor& codes) {
    double sum = 0;
    for (int64_t k = 0; k < scores.size(0); ++k) sum += std::exp(scores[k].item<double>() / tau);
    double loss = 0;
    for (int64_t k = 0; k < scores.size(0); ++k) {
      loss -= codes[k].item<double>() * (scores[k].item<double>() / tau - std::log(sum));
    }
    return loss;
  };
  double loss = 0;
  for (int64_t b = 0; b < s1.size(0); ++b) loss += (one(s1[b], q2[b]) + one(s2[b], q1[b])) / 2;
  return loss / static_cast<double>(s1.size(0));
}

at::Tensor CodesLike(int64_t rows, int64_t columns, double phase) {
  return torch::softmax(3 * GoldenRows(rows, columns, phase), 1);
}

TEST(SwappedPrediction, IsTheFormulaWrittenOut) {
  for (const int64_t batch : {1, 4}) {
    for (const double tau : {0.1, 1.0}) {
      const auto s1 = GoldenRows(batch, 5, 0.1), s2 = GoldenRows(batch, 5, 0.7),
                 q1 = CodesLike(batch, 5, 0.3), q2 = CodesLike(batch, 5, 1.3);
      EXPECT_NEAR(SwappedPrediction(s1, s2, q1, q2, tau).item<double>(),
                  SwappedByLoops(s1, s2, q1, q2, tau), 1e-12);
    }
  }
}

TEST(SwappedPrediction, ScoresThatSayNothingGiveTheLogOfTheirNumber) {
  const auto zero = torch::zeros({3, 7}, torch::kDouble), q = CodesLike(3, 7, 0.3);
  EXPECT_NEAR(SwappedPrediction(zero, zero, q, q, 0.1).item<double>(), std::log(7.0), 1e-12);
}

TEST(SwappedPrediction, GradientIsThatOfFiniteDifferencesAndFlowsToScoresAlone) {
  const auto s1 = GoldenRows(3, 4, 0.1).requires_grad_(), s2 = GoldenRows(3, 4, 0.7);
  const auto q1 = CodesLike(3, 4, 0.3).requires_grad_(), q2 = CodesLike(3, 4, 1.3).requires_grad_();
  SwappedPrediction(s1, s2, q1, q2, 0.1).backward();
  EXPECT_FALSE(q1.grad().defined());
  EXPECT_FALSE(q2.grad().defined());
  const auto slopes = SlopesOf(
      [&](const at::Tensor& x) { return SwappedByLoops(x, s2, q1.detach(), q2.detach(), 0.1); },
      s1);
  EXPECT_TRUE(torch::allclose(s1.grad(), slopes, 1e-6, 1e-8));
}

TEST(SwappedPrediction, IsPyTorchs) {
  const auto s1 = GoldenRows(6, 4, 0.2).requires_grad_(),
             s2 = GoldenRows(6, 4, 1.9).requires_grad_();
  const auto q1 = Sinkhorn(s1, 0.05, 3), q2 = Sinkhorn(s2, 0.05, 3);
  ExpectGoldenLoss(SwappedPrediction(s1, s2, q1, q2, 0.1), {s1, s2}, "swapped_prediction");
}

}  // namespace
}  // namespace kindred

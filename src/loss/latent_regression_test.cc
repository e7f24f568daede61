#include "loss/latent_regression.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "tests/golden_steps.h"

namespace kindred {
namespace {

// The squared distance of unit vectors, by loops.
double RegressionByLoops(const at::Tensor& p, const at::Tensor& z) {
  double loss = 0;
  for (int64_t i = 0; i < p.size(0); ++i) {
    double pp = 0, zz = 0, sum = 0;
    for (int64_t d = 0; d < p.size(1); ++d) {
      pp += std::pow(p[i][d].item<double>(), 2);
      zz += std::pow(z[i][d].item<double>(), 2);
    }
    for (int64_t d = 0; d < p.size(1); ++d) {
      sum += std::pow(
          p[i][d].item<double>() / std::sqrt(pp) - z[i][d].item<double>() / std::sqrt(zz), 2);
    }
    loss += sum;
  }
  return loss / static_cast<double>(p.size(0));
}

TEST(LatentRegression, IsTheFormulaWrittenOut) {
  for (const int64_t batch : {1, 3, 8}) {
    const auto p = 3 * GoldenRows(batch, 6, 0.1), z = 0.5 * GoldenRows(batch, 6, 0.8);
    EXPECT_NEAR(LatentRegression(p, z).item<double>(), RegressionByLoops(p, z), 1e-12);
  }
}

TEST(LatentRegression, CountsDirectionsAlone) {
  const auto p = GoldenRows(3, 4, 0.1);
  EXPECT_NEAR(LatentRegression(5 * p, 0.1 * p).item<double>(), 0, 1e-12);
  EXPECT_NEAR(LatentRegression(p, -7 * p).item<double>(), 4, 1e-12);
}

TEST(LatentRegression, GradientFlowsToPredictionsAloneAndIsThatOfFiniteDifferences) {
  const auto p = (2 * GoldenRows(3, 4, 0.1)).requires_grad_();
  const auto z = GoldenRows(3, 4, 0.8).requires_grad_();
  LatentRegression(p, z).backward();
  EXPECT_FALSE(z.grad().defined());
  const auto slopes =
      SlopesOf([&](const at::Tensor& x) { return RegressionByLoops(x, z.detach()); }, p);
  EXPECT_TRUE(torch::allclose(p.grad(), slopes, 1e-6, 1e-9));
}

TEST(LatentRegression, IsPyTorchs) {
  const auto p = (3 * GoldenRows(4, 5, 0.3)).requires_grad_(), z = 2 * GoldenRows(4, 5, 1.1);
  ExpectGoldenLoss(LatentRegression(p, z), {p}, "latent_regression");
}

}  // namespace
}  // namespace kindred

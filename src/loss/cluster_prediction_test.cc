#include "loss/cluster_prediction.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "tests/golden_steps.h"

namespace kindred {
namespace {

double ClusterPredictionByLoops(const at::Tensor& z, const at::Tensor& centroids,
                                const at::Tensor& assigned, double tau) {
  double loss = 0;
  for (int64_t i = 0; i < z.size(0); ++i) {
    double all = 0;
    for (int64_t k = 0; k < centroids.size(0); ++k) {
      all += std::exp((z[i] * centroids[k]).sum().item<double>() / tau);
    }
    const auto own = centroids[assigned[i].item<int64_t>()];
    loss += std::log(all) - (z[i] * own).sum().item<double>() / tau;
  }
  return loss / static_cast<double>(z.size(0));
}

TEST(ClusterPrediction, IsTheFormulaAndItsGradientThatOfFiniteDifferences) {
  const auto z = GoldenRows(6, 4, 0.1).requires_grad_(),
             centroids = GoldenRows(3, 4, 0.8).requires_grad_();
  const auto assigned = torch::tensor({0, 2, 1, 2, 2, 0}, torch::kInt64);
  for (const double tau : {0.1, 1.0}) {
    const auto loss = ClusterPrediction(z, centroids, assigned, tau);
    EXPECT_NEAR(loss.item<double>(), ClusterPredictionByLoops(z, centroids, assigned, tau), 1e-10);
    const auto gradient = torch::autograd::grad({loss}, {z})[0];
    const auto slopes = SlopesOf(
        [&](const at::Tensor& x) { return ClusterPredictionByLoops(x, centroids, assigned, tau); },
        z);
    EXPECT_TRUE(torch::allclose(gradient, slopes, 1e-6, 1e-7));
  }
  ClusterPrediction(z, centroids, assigned, 1).backward();
  EXPECT_FALSE(centroids.grad().defined());
}

}  // namespace
}  // namespace kindred

#include "loss/sinkhorn.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "tests/golden_steps.h"

namespace kindred {
namespace {

// The algorithm as published, by loops: all of Q sums to 1, each prototype to 1/P, each sample to
// 1/B.
std::vector<std::vector<double>> SinkhornByLoops(const at::Tensor& scores, double epsilon,
                                                 int iterations) {
  const auto batch = static_cast<size_t>(scores.size(0)), all = static_cast<size_t>(scores.size(1));
  std::vector<std::vector<double>> q(batch, std::vector<double>(all));
  for (size_t b = 0; b < batch; ++b) {
    for (size_t p = 0; p < all; ++p) {
      q[b][p] = std::exp(scores[static_cast<int64_t>(b)][static_cast<int64_t>(p)].item<double>() /
                         epsilon);
    }
  }
  for (int i = 0; i < iterations; ++i) {
    for (size_t p = 0; p < all; ++p) {
      double sum = 0;
      for (size_t b = 0; b < batch; ++b) sum += q[b][p];
      for (size_t b = 0; b < batch; ++b) q[b][p] /= sum * static_cast<double>(all);
    }
    for (size_t b = 0; b < batch; ++b) {
      double sum = 0;
      for (size_t p = 0; p < all; ++p) sum += q[b][p];
      for (size_t p = 0; p < all; ++p) q[b][p] /= sum * static_cast<double>(batch);
    }
  }
  for (auto& row : q) {
    for (double& value : row) value *= static_cast<double>(batch);
  }
  return q;
}

TEST(Sinkhorn, IsTheAlgorithmWrittenOut) {
  for (const int64_t batch : {1, 4, 7}) {
    for (const int64_t prototypes : {2, 5, 12}) {
      for (const double epsilon : {0.05, 0.5}) {
        const auto scores = GoldenRows(batch, prototypes, 0.4);
        const auto codes = Sinkhorn(scores, epsilon, 3);
        const auto expected = SinkhornByLoops(scores, epsilon, 3);
        for (int64_t b = 0; b < batch; ++b) {
          for (int64_t p = 0; p < prototypes; ++p) {
            EXPECT_NEAR(codes[b][p].item<double>(),
                        expected[static_cast<size_t>(b)][static_cast<size_t>(p)], 1e-10);
          }
        }
      }
    }
  }
}

TEST(Sinkhorn, UsesAllPrototypesAlike) {
  // Every sample is nearest to prototype 0; enough rounds share the others out all the same.
  auto scores = 0.2 * GoldenRows(8, 4, 0.3);
  scores.select(1, 0) += 0.7;
  const auto codes = Sinkhorn(scores, 0.05, 200);
  EXPECT_TRUE(torch::allclose(codes.sum(1), torch::ones(8, torch::kDouble), 0, 1e-9));
  EXPECT_TRUE(torch::allclose(codes.sum(0), torch::full({4}, 2.0, torch::kDouble), 0, 1e-6));
}

TEST(Sinkhorn, StaysFiniteWhereExponentialsWouldNot) {
  // Scores of 1e3 / .05 overflow any float; a prototype far from all samples would be 0 / 0.
  auto scores = GoldenRows(6, 4, 0.3).to(torch::kFloat) * 1000;
  scores.select(1, 2) -= 5000;
  const auto codes = Sinkhorn(scores, 0.05, 3);
  EXPECT_TRUE(codes.isfinite().all().item<bool>());
  EXPECT_TRUE(torch::allclose(codes.sum(1), torch::ones(6), 0, 1e-4));
}

TEST(Sinkhorn, IsPyTorchsAndCarriesNoGradient) {
  const auto scores = GoldenRows(6, 4, 0.2).requires_grad_();
  const auto codes = Sinkhorn(scores, 0.05, 3);
  EXPECT_FALSE(codes.requires_grad());
  const auto expected = GoldenTensor(GoldenFile("losses.json")["sinkhorn"], {6, 4});
  EXPECT_TRUE(torch::allclose(codes, expected, 1e-9, 1e-12));
}

}  // namespace
}  // namespace kindred

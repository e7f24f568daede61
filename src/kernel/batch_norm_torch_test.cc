#include "kernel/batch_norm.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/channels_last.h"

namespace kindred {
namespace {

// Against autograd in double, group by group.
TEST(BatchNormKernel, IsBatchNormWithResidualAndReluAndItsGradients) {
  for (const int64_t groups : {1, 2}) {
    for (const int64_t channels : {3, 8, 24}) {
      for (const bool residual : {false, true}) {
        for (const bool relu : {false, true}) {
          torch::manual_seed(channels);
          const int64_t batch = 6, side = 5;
          const auto sizes = std::vector<int64_t>{batch, channels, side, side};
          auto x = (3 * torch::randn(sizes, torch::kDouble) + 2).requires_grad_();
          auto r = torch::randn(sizes, torch::kDouble).requires_grad_();
          auto gamma = torch::randn({channels}, torch::kDouble).requires_grad_();
          auto beta = torch::randn({channels}, torch::kDouble).requires_grad_();
          std::vector<at::Tensor> parts(static_cast<size_t>(batch));
          for (int64_t g = 0; g < groups; ++g) {
            std::vector<at::Tensor> own;
            for (int64_t b = g; b < batch; b += groups) own.push_back(x[b]);
            const auto y = torch::batch_norm(torch::stack(own), gamma, beta, {}, {}, true, 0.1,
                                             kNormEpsilon, false);
            for (int64_t i = 0; i < y.size(0); ++i)
              parts[static_cast<size_t>(g + i * groups)] = y[i];
          }
          auto z = torch::stack(parts);
          if (residual) z = z + r;
          if (relu) z = z.relu();
          const auto dz = torch::randn(sizes, torch::kDouble);
          z.backward(dz);

          const NormShape shape = {batch, side * side, channels, groups};
          auto own_x = Last(x), own_r = Last(r), own_dz = Last(dz);
          auto own_gamma = gamma.detach().to(torch::kFloat),
               own_beta = beta.detach().to(torch::kFloat);
          auto own_z = torch::empty_like(own_x), dx = torch::empty_like(own_x);
          auto dgamma = torch::empty_like(own_gamma), dbeta = torch::empty_like(own_beta);
          NormStatistics statistics;
          NormStatisticsOf(shape, Values(own_x), statistics);
          const NormWeights weights = {Values(own_gamma), Values(own_beta)};
          const NormThen then = {
              residual ? std::span<const float>(Values(own_r)) : std::span<const float>(), relu};
          NormForward(shape, Values(own_x), statistics, weights, then, Values(own_z));
          NormBackward(shape, Values(own_x), Values(own_z), statistics, weights, then,
                       Values(own_dz), {Values(dx), Values(dgamma), Values(dbeta)});
          const std::string what = fmt::format("{} groups, {} channels, residual {}, relu {}",
                                               groups, channels, residual, relu);
          ExpectNear(own_z, Last(z), "z: " + what);
          ExpectNear(dx, Last(x.grad()), "dx: " + what);
          ExpectNear(dgamma, gamma.grad(), "dgamma: " + what);
          ExpectNear(dbeta, beta.grad(), "dbeta: " + what);
          if (residual) ExpectNear(own_dz, Last(r.grad()), "dr: " + what);
        }
      }
    }
  }
}

TEST(BatchNormKernel, RunningStatisticsAreUsedAsTheyAre) {
  NormStatistics statistics;
  const std::vector<float> mean = {1, 2}, variance = {4, 9};
  NormStatisticsFrom(mean, variance, statistics);
  const std::vector<float> x = {3, 5, 1, -1}, gamma = {2, 3}, beta = {0, 1};
  std::vector<float> z(4);
  NormForward({1, 2, 2, 1}, x, statistics, {gamma, beta}, {.relu = false}, z);
  // (3 - 1) / 2 x 2, (5 - 2) / 3 x 3 + 1; 0, (-1 - 2) / 3 x 3 + 1.
  const float expected[] = {2, 4, 0, -2};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(z[i], expected[i], 1e-4);
}

}  // namespace
}  // namespace kindred

#include "kernel/batch_norm.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "kernel/strided_conv.h"

namespace kindred {
namespace {

std::span<float> Values(at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<size_t>(tensor.numel())};
}

// [B, C, H, W] in any precision -> [B, H, W, C] floats.
at::Tensor Last(const at::Tensor& x) {
  return x.detach().permute({0, 2, 3, 1}).to(torch::kFloat).contiguous();
}

void ExpectNear(const at::Tensor& own, const at::Tensor& reference, const std::string& what) {
  const double scale = reference.abs().max().item<double>() + 1e-6;
  EXPECT_LT((own.to(torch::kDouble) - reference.to(torch::kDouble)).abs().max().item<double>(),
            2e-5 * scale)
      << what;
}

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
          NormForward(shape, Values(own_x), statistics, weights,
                      residual ? std::span<const float>(Values(own_r)) : std::span<const float>(),
                      relu, Values(own_z));
          NormBackward(shape, Values(own_x), Values(own_z), statistics, weights, relu,
                       Values(own_dz), Values(dx), Values(dgamma), Values(dbeta));
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
  NormForward({1, 2, 2, 1}, x, statistics, {gamma, beta}, {}, false, z);
  // (3 - 1) / 2 x 2, (5 - 2) / 3 x 3 + 1; 0, (-1 - 2) / 3 x 3 + 1.
  const float expected[] = {2, 4, 0, -2};
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(z[i], expected[i], 1e-4);
}

TEST(StridedConv, IsTheConvolutionAndItsGradients) {
  for (const int64_t size : {1, 3}) {
    for (const auto& s : std::vector<ConvShape>{
             {1, 1, 1, 3, 5}, {2, 8, 8, 4, 6}, {3, 7, 7, 24, 8}, {2, 5, 9, 3, 1}}) {
      torch::manual_seed(size);
      auto x = torch::randn({s.batch, s.in, s.height, s.width}, torch::kDouble).requires_grad_();
      auto w = torch::randn({s.out, s.in, size, size}, torch::kDouble).requires_grad_();
      const auto y = torch::conv2d(x, w, {}, 2, size / 2);
      const auto dy = torch::randn_like(y);
      y.backward(dy);
      auto own_x = Last(x), own_dy = Last(dy), own_w = w.detach().to(torch::kFloat).contiguous();
      auto own_y = torch::empty_like(own_dy), dx = torch::ones_like(own_x),
           dw = torch::empty_like(own_w);
      StridedForward(s, size, Values(own_x), Values(own_w), Values(own_y));
      ExpectNear(own_y, Last(y), "y");
      StridedWeightGradient(s, size, Values(own_x), Values(own_dy), Values(dw));
      ExpectNear(dw, w.grad(), "dw");
      StridedDataGradient(s, size, Values(own_dy), Values(own_w), true, Values(dx));
      ExpectNear(dx - 1, Last(x.grad()), "dx added");
      StridedDataGradient(s, size, Values(own_dy), Values(own_w), false, Values(dx));
      ExpectNear(dx, Last(x.grad()), "dx");
    }
  }
}

}  // namespace
}  // namespace kindred

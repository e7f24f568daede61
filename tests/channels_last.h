// Channels-last floats of a tensor, for tests that hold kernels against LibTorch.
#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <span>
#include <string>

namespace kindred {

inline std::span<float> Values(at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<size_t>(tensor.numel())};
}

// [B, C, H, W] in any precision -> [B, H, W, C] floats.
inline at::Tensor Last(const at::Tensor& x) {
  return x.detach().permute({0, 2, 3, 1}).to(torch::kFloat).contiguous();
}

inline void ExpectNear(const at::Tensor& own, const at::Tensor& reference,
                       const std::string& what) {
  const double scale = reference.abs().max().item<double>() + 1e-6;
  EXPECT_LT((own.to(torch::kDouble) - reference.to(torch::kDouble)).abs().max().item<double>(),
            2e-5 * scale)
      << what;
}

}  // namespace kindred

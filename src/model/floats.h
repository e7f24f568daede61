// The values of a contiguous float tensor, where they lie.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>

namespace kindred {

inline std::span<float> Floats(at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<size_t>(tensor.numel())};
}

inline std::span<const float> Floats(const at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), static_cast<size_t>(tensor.numel())};
}

}  // namespace kindred

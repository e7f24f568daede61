// 1x1 convolutions with a stride, channels last: products of the pixels that the stride leaves and
// the weights (LIBXSMM).
//
// Images are taken in fixed groups, and the parts of a weight gradient are summed in their order:
// the number of threads changes no bit.
#pragma once

#include <span>

#include "kernel/conv_shape.h"
#include "kernel/kernel_path.h"

namespace kindred {

// y = conv(x, w); overwritten.
void PointwiseForward(const ConvShape& shape, int64_t stride, std::span<const float> x,
                      std::span<const float> w, std::span<float> y,
                      const KernelOptions& options = {});

// dx, overwritten, or added to what is there when `add`.
void PointwiseDataGradient(const ConvShape& shape, int64_t stride, std::span<const float> dy,
                           std::span<const float> w, bool add, std::span<float> dx,
                           const KernelOptions& options = {});

// dw, overwritten.
void PointwiseWeightGradient(const ConvShape& shape, int64_t stride, std::span<const float> x,
                             std::span<const float> dy, std::span<float> dw,
                             const KernelOptions& options = {});

}  // namespace kindred

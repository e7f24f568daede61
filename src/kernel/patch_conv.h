// Convolutions by their patches, channels last: those that Winograd's tiles do not serve, of stride
// 2 or of 1x1.
//
// The patch under each pixel of y becomes a row of a matrix, and the convolution a product of it
// with the weights (LIBXSMM). Pixels are taken in fixed blocks that stay in the cache, and the
// parts of a weight gradient are summed in their order: the number of threads changes no bit.
#pragma once

#include <span>

#include "kernel/conv_shape.h"
#include "kernel/kernel_path.h"

namespace kindred {

// y = conv(x, w); overwritten.
void PatchForward(const ConvShape& shape, const Window& window, std::span<const float> x,
                  std::span<const float> w, std::span<float> y, const KernelOptions& options = {});

// dx, overwritten, or added to what is there when `add`.
void PatchDataGradient(const ConvShape& shape, const Window& window, std::span<const float> dy,
                       std::span<const float> w, bool add, std::span<float> dx,
                       const KernelOptions& options = {});

// dw, overwritten.
void PatchWeightGradient(const ConvShape& shape, const Window& window, std::span<const float> x,
                         std::span<const float> dy, std::span<float> dw,
                         const KernelOptions& options = {});

}  // namespace kindred

// 3x3 convolutions of images: few channels in, 1 or 3, where transforms would mostly carry
// zeros. By the definition, eight or sixteen channels of y at once, whose sums stay in
// registers. The data gradient, which training never asks for, is Winograd's.
//
// Images are summed in fixed parts, in their order: the number of threads changes no bit.
#pragma once

#include <span>

#include "kernel/conv_shape.h"
#include "kernel/kernel_path.h"

namespace kindred {

// Whether the two below serve: 1 or 3 channels in, a multiple of eight out, stride 1.
bool IsThin(const ConvShape& shape, const Window& window);

// y = conv(x, w); overwritten.
void ThinForward(const ConvShape& shape, std::span<const float> x, std::span<const float> w,
                 std::span<float> y, const KernelOptions& options = {});

// dw, overwritten.
void ThinWeightGradient(const ConvShape& shape, std::span<const float> x, std::span<const float> dy,
                        std::span<float> dw, const KernelOptions& options = {});

}  // namespace kindred

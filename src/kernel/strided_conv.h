// Convolutions of stride 2, 3x3 and 1x1, where a ResNet's stages begin; channels last.
//
// Patches of one image at a time become the rows of a matrix, and the convolution one product of
// it with the weights (BLAS).
#pragma once

#include <span>

#include "kernel/conv_shape.h"

namespace kindred {

// shape: of x; y is [batch, (height + 1) / 2, (width + 1) / 2, out]. size: 3 (a border of one zero)
// or 1. w: [out, in, size, size].
void StridedForward(const ConvShape& shape, int64_t size, std::span<const float> x,
                    std::span<const float> w, std::span<float> y);

// dw, overwritten.
void StridedWeightGradient(const ConvShape& shape, int64_t size, std::span<const float> x,
                           std::span<const float> dy, std::span<float> dw);

// dx, overwritten, or added to what is there when `add`.
void StridedDataGradient(const ConvShape& shape, int64_t size, std::span<const float> dy,
                         std::span<const float> w, bool add, std::span<float> dx);

}  // namespace kindred

// A convolution by the kernel that measures best for its shape (bench/layers.cc).
#pragma once

#include <span>

#include "kernel/conv_shape.h"
#include "kernel/kernel_path.h"

namespace kindred {

// y, overwritten. x: [batch, height, width, in] as `shape` says, w and y as `window` does.
void ConvForward(const ConvShape& shape, const Window& window, std::span<const float> x,
                 std::span<const float> w, std::span<float> y, const KernelOptions& options = {});

// dx from dy, overwritten, or added to what is there when `add`.
void ConvDataGradient(const ConvShape& shape, const Window& window, std::span<const float> dy,
                      std::span<const float> w, bool add, std::span<float> dx,
                      const KernelOptions& options = {});

// dw from x and dy, overwritten.
void ConvWeightGradient(const ConvShape& shape, const Window& window, std::span<const float> x,
                        std::span<const float> dy, std::span<float> dw,
                        const KernelOptions& options = {});

}  // namespace kindred

// 3x3 convolutions by Winograd's F(4x4, 3x3) (Lavin and Gray 2016): four times fewer
// multiplications than the definition.
//
//   Y = A^T [ sum over in of (G w G^T) * (B^T d B) ] A,   d: a 6x6 tile of x, Y: 4x4 of y
//
// Stride 2 takes x's even and odd pixels apart: the middle weight meets the even ones alone, the
// outer two are F(4, 2) on the odd ones. Tiles are 9x9 then, and 81 products do for 144.
//
// The products of all tiles are matrix products, one per position of the tile (LIBXSMM). Tiles
// are taken in blocks, which stay in the cache where channels are few; blocks are fixed, and the
// parts of a weight gradient are summed in their order, so that the number of threads changes no
// bit. AVX2 and FMA are used where the CPU has them, chosen at run time; results differ in the last
// bits between the two.
#pragma once

#include <span>

#include "kernel/conv_shape.h"
#include "kernel/kernel_path.h"

namespace kindred {

// y = conv(x, w) with stride 1 or 2, sizes as in ConvShape and Window; y is overwritten.
void WinogradForward(const ConvShape& shape, int64_t stride, std::span<const float> x,
                     std::span<const float> w, std::span<float> y,
                     const KernelOptions& options = {});

// dx = the gradient to x of a loss whose gradient to y is dy; overwritten, or added to what is
// there when `add`.
void WinogradDataGradient(const ConvShape& shape, int64_t stride, std::span<const float> dy,
                          std::span<const float> w, bool add, std::span<float> dx,
                          const KernelOptions& options = {});

// dw = the gradient to w, [out, in, 3, 3]; overwritten.
void WinogradWeightGradient(const ConvShape& shape, int64_t stride, std::span<const float> x,
                            std::span<const float> dy, std::span<float> dw,
                            const KernelOptions& options = {});

}  // namespace kindred

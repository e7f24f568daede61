// 3x3 convolutions by Winograd's F(4x4, 3x3) (Lavin and Gray 2016): four times fewer
// multiplications than the definition.
//
//   Y = A^T [ sum over in of (G w G^T) * (B^T d B) ] A,   d: a 6x6 tile of x, Y: 4x4 of y
//
// The products of all tiles are 36 matrix products, one a position of the 6x6 tile (LIBXSMM). Tiles
// are taken in blocks that stay in the cache; blocks are fixed, and partial weight gradients are
// summed in their order, so that the number of threads changes no bit. AVX2 and FMA are used where
// the CPU has them, chosen at run time; results differ in the last bits between the two.
#pragma once

#include <span>
#include <vector>

#include "kernel/conv_shape.h"

namespace kindred {

// Which code runs.
enum class KernelPath { kPortable, kAvx2 };

// The best that this CPU has.
KernelPath BestKernelPath();

// w transformed for the forward pass, and flipped and transposed for the data gradient.
struct WinogradWeights {
  std::vector<float> forward;  // [36, in, out], channels rounded up to 8
  std::vector<float> data;     // [36, out, in], likewise
};

// Fills `weights`, whose memory is reused.
void TransformWeights(const ConvShape& shape, std::span<const float> w, WinogradWeights& weights,
                      KernelPath path = BestKernelPath());

// Scratch memory of a thread, reused from call to call.
class WinogradScratch {
 public:
  // At least `floats`, aligned to 64 bytes. What it held is lost.
  float* Get(size_t floats);

 private:
  std::vector<float> memory_;
};

struct WinogradOptions {
  KernelPath path = BestKernelPath();
  int workers = 1;
};

// y = conv(x, w). Sizes as in ConvShape; y is overwritten.
void WinogradForward(const ConvShape& shape, std::span<const float> x,
                     const WinogradWeights& weights, std::span<float> y,
                     const WinogradOptions& options = {});

// dx = the gradient to x of a loss whose gradient to y is dy; overwritten.
void WinogradDataGradient(const ConvShape& shape, std::span<const float> dy,
                          const WinogradWeights& weights, std::span<float> dx,
                          const WinogradOptions& options = {});

// dw = the gradient to w, [out, in, 3, 3]; overwritten.
void WinogradWeightGradient(const ConvShape& shape, std::span<const float> x,
                            std::span<const float> dy, std::span<float> dw,
                            const WinogradOptions& options = {});

}  // namespace kindred

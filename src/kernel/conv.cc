#include "kernel/conv.h"

#include "base/error.h"
#include "kernel/pointwise_conv.h"
#include "kernel/thin_conv.h"
#include "kernel/winograd.h"

namespace kindred {
namespace {

// Windows of 3x3 go by Winograd's tiles, of 1x1 pixel by pixel.
bool ByTiles(const Window& window) {
  Check((window.size == 3 && (window.stride == 1 || window.stride == 2)) || window.size == 1,
        "a window without a kernel");
  return window.size == 3;
}

}  // namespace

void ConvForward(const ConvShape& shape, const Window& window, std::span<const float> x,
                 std::span<const float> w, std::span<float> y, const KernelOptions& options) {
  if (IsThin(shape, window)) {
    ThinForward(shape, x, w, y, options);
  } else if (ByTiles(window)) {
    WinogradForward(shape, window.stride, x, w, y, options);
  } else {
    PointwiseForward(shape, window.stride, x, w, y, options);
  }
}

void ConvDataGradient(const ConvShape& shape, const Window& window, std::span<const float> dy,
                      std::span<const float> w, bool add, std::span<float> dx,
                      const KernelOptions& options) {
  if (ByTiles(window)) {
    WinogradDataGradient(shape, window.stride, dy, w, add, dx, options);
  } else {
    PointwiseDataGradient(shape, window.stride, dy, w, add, dx, options);
  }
}

void ConvWeightGradient(const ConvShape& shape, const Window& window, std::span<const float> x,
                        std::span<const float> dy, std::span<float> dw,
                        const KernelOptions& options) {
  if (IsThin(shape, window)) {
    ThinWeightGradient(shape, x, dy, dw, options);
  } else if (ByTiles(window)) {
    WinogradWeightGradient(shape, window.stride, x, dy, dw, options);
  } else {
    PointwiseWeightGradient(shape, window.stride, x, dy, dw, options);
  }
}

}  // namespace kindred

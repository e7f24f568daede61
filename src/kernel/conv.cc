#include "kernel/conv.h"

#include "kernel/patch_conv.h"
#include "kernel/winograd.h"

namespace kindred {
namespace {

bool ByWinograd(const Window& window) { return window.size == 3 && window.stride == 1; }

}  // namespace

void ConvForward(const ConvShape& shape, const Window& window, std::span<const float> x,
                 std::span<const float> w, std::span<float> y, const KernelOptions& options) {
  if (ByWinograd(window)) {
    WinogradForward(shape, x, w, y, options);
  } else {
    PatchForward(shape, window, x, w, y, options);
  }
}

void ConvDataGradient(const ConvShape& shape, const Window& window, std::span<const float> dy,
                      std::span<const float> w, bool add, std::span<float> dx,
                      const KernelOptions& options) {
  if (ByWinograd(window)) {
    WinogradDataGradient(shape, dy, w, add, dx, options);
  } else {
    PatchDataGradient(shape, window, dy, w, add, dx, options);
  }
}

void ConvWeightGradient(const ConvShape& shape, const Window& window, std::span<const float> x,
                        std::span<const float> dy, std::span<float> dw,
                        const KernelOptions& options) {
  if (ByWinograd(window)) {
    WinogradWeightGradient(shape, x, dy, dw, options);
  } else {
    PatchWeightGradient(shape, window, x, dy, dw, options);
  }
}

}  // namespace kindred

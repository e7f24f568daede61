// Gaussian blur.
#pragma once

#include <span>

#include "data/resize.h"

namespace kindred {

// Side of the kernel for an image of this side: a tenth of it, odd, at least 3 (SimCLR's rule).
int BlurKernelSize(int side);

// Convolves with a Gaussian of `sigma` pixels cut to the kernel of the shorter side, the border
// mirrored without its edge (torchvision's gaussian_blur). An image of less than a kernel gets a
// smaller one. image: planar floats of `shape`, in place. sigma > 0.
void GaussianBlur(std::span<float> image, const ImageShape& shape, float sigma);

}  // namespace kindred

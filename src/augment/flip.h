// Mirrors an image left to right.
#pragma once

#include <span>

#include "data/resize.h"

namespace kindred {

// image: planar floats of `shape`, in place.
void FlipHorizontally(std::span<float> image, const ImageShape& shape);

}  // namespace kindred

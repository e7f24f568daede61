// Scaling an image of any size to the one that training uses.
#pragma once

#include <cstdint>
#include <span>

#include "data/images.h"

namespace kindred {

// Scales the shorter side to `size` and cuts the middle out of the longer one (torchvision's Resize
// and CenterCrop in one step). Bilinear with antialiasing: a triangle filter as wide as the scale,
// its weights normalised at the borders.
//
// in: planar bytes of `shape`. out: shape.channels x size x size bytes, rounded to nearest.
void ResizeToSquare(std::span<const uint8_t> in, const ImageShape& shape, int size,
                    std::span<uint8_t> out);

}  // namespace kindred

// Turns a colour image grey.
#pragma once

#include <span>

namespace kindred {

// Luma of a pixel (ITU-R 601, torchvision's weights).
inline float Luma(float red, float green, float blue) {
  return 0.2989f * red + 0.587f * green + 0.114f * blue;
}

// All three channels become the luma. image: planar floats [3, ...], in place.
void Grayscale(std::span<float> image);

}  // namespace kindred

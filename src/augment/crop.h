// Random resized crop: a part of the image, scaled back to the image's size.
#pragma once

#include <cstdint>
#include <span>

#include "base/rng.h"
#include "data/resize.h"

namespace kindred {

struct CropBox {
  int top = 0;
  int left = 0;
  int height = 0;
  int width = 0;
};

// torchvision's RandomResizedCrop: an area uniform in [least_area, 1] of the image and an aspect
// ratio log-uniform in [3/4, 4/3], tried ten times; else the largest middle part within those
// ratios.
CropBox DrawCrop(Rng& rng, int height, int width, double least_area);

// Cuts the box out and scales it to the image's own size, bilinear (pixel centres at .5).
//
// image: planar bytes of `shape`. out: as many floats, bytes scaled to [0, 1]. The box lies inside.
void ResizedCrop(std::span<const uint8_t> image, const ImageShape& shape, const CropBox& box,
                 std::span<float> out);

}  // namespace kindred

// Images in memory: bytes, all of one shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/file.h"

namespace kindred {

// The shape of one image; its values lie plane after plane (red, green, blue).
struct ImageShape {
  int channels = 3;
  int height = 0;
  int width = 0;
};

// [count, channels, height, width] bytes, planes one after the other (red, green, blue).
struct Images {
  int count = 0;
  int channels = 3;  // 3, or 1 for grey
  int height = 0;
  int width = 0;
  bool grey = false;  // the source was grey: with 3 channels they are equal
  Bytes pixels;

  size_t PlaneSize() const { return static_cast<size_t>(height) * static_cast<size_t>(width); }
  size_t ImageSize() const { return static_cast<size_t>(channels) * PlaneSize(); }

  // The bytes of image i. 0 <= i < count.
  std::span<const uint8_t> operator[](int i) const {
    return std::span(pixels).subspan(static_cast<size_t>(i) * ImageSize(), ImageSize());
  }
};

// The chosen images, in the order of the indices.
Images Select(const Images& images, std::span<const int> indices);

// The same images with another number of channels: grey is replicated to 3, colour becomes grey by
// ITU-R 601 luma (19595 R + 38470 G + 7471 B, rounded, over 65536: what PIL does).
Images WithChannels(Images images, int channels);

// The same images scaled to size x size, as ResizeToSquare does one.
Images WithSize(Images images, int size);

}  // namespace kindred

#include "data/images.h"

#include <algorithm>

#include "base/error.h"
#include "data/resize.h"

namespace kindred {
namespace {

// The shape of the images, without any.
Images EmptyLike(const Images& images) {
  return {.channels = images.channels,
          .height = images.height,
          .width = images.width,
          .grey = images.grey};
}

}  // namespace

Images Select(const Images& images, std::span<const int> indices) {
  Images chosen = EmptyLike(images);
  chosen.count = static_cast<int>(indices.size());
  chosen.pixels.reserve(indices.size() * images.ImageSize());
  for (const int i : indices) {
    const auto image = images[i];
    chosen.pixels.insert(chosen.pixels.end(), image.begin(), image.end());
  }
  return chosen;
}

Images WithChannels(Images images, int channels) {
  Check(channels == 1 || channels == 3, "images have 1 or 3 channels");
  if (images.channels == channels) return images;
  Images result = EmptyLike(images);
  result.count = images.count;
  result.channels = channels;
  result.grey = true;
  result.pixels.resize(static_cast<size_t>(images.count) * result.ImageSize());
  const size_t plane = images.PlaneSize();
  for (int i = 0; i < images.count; ++i) {
    const uint8_t* in = images[i].data();
    uint8_t* out = result.pixels.data() + static_cast<size_t>(i) * result.ImageSize();
    if (channels == 3) {
      for (int c = 0; c < 3; ++c) std::copy_n(in, plane, out + static_cast<size_t>(c) * plane);
    } else {
      for (size_t p = 0; p < plane; ++p) {
        const uint32_t luma = 19595u * in[p] + 38470u * in[plane + p] + 7471u * in[2 * plane + p];
        out[p] = static_cast<uint8_t>((luma + 0x8000u) >> 16);
      }
    }
  }
  return result;
}

Images WithSize(Images images, int size) {
  if (images.height == size && images.width == size) return images;
  Images result = EmptyLike(images);
  result.count = images.count;
  result.height = result.width = size;
  result.pixels.resize(static_cast<size_t>(images.count) * result.ImageSize());
  for (int i = 0; i < images.count; ++i) {
    ResizeToSquare(images[i],
                   {.channels = images.channels, .height = images.height, .width = images.width},
                   size,
                   std::span(result.pixels)
                       .subspan(static_cast<size_t>(i) * result.ImageSize(), result.ImageSize()));
  }
  return result;
}

}  // namespace kindred

#include "augment/preview.h"

#include <algorithm>
#include <vector>

#include "augment/normalize.h"

namespace kindred {
namespace {

constexpr int kCell = 96;  // least side of a picture on the sheet
constexpr int kGap = 4;

// Where a pixel of planar bytes is.
size_t Place(const ImageShape& shape, int channel, int y, int x) {
  return (static_cast<size_t>(channel) * static_cast<size_t>(shape.height) +
          static_cast<size_t>(y)) *
             static_cast<size_t>(shape.width) +
         static_cast<size_t>(x);
}

// Draws planar bytes of `shape` at (top, left), each pixel as a square of `zoom`.
void Paste(std::span<const uint8_t> image, const ImageShape& shape, int zoom, int top, int left,
           DecodedImage& sheet) {
  for (int c = 0; c < 3; ++c) {
    const int from = shape.channels == 1 ? 0 : c;
    for (int y = 0; y < shape.height * zoom; ++y) {
      for (int x = 0; x < shape.width * zoom; ++x) {
        sheet.pixels[Place(sheet.shape, c, top + y, left + x)] =
            image[Place(shape, from, y / zoom, x / zoom)];
      }
    }
  }
}

}  // namespace

DecodedImage PictureSheet(const std::vector<Bytes>& pictures, int columns,
                          const ImageShape& shape) {
  const int side = std::max(shape.height, shape.width);
  const int zoom = std::max(1, (kCell + side - 1) / side);
  const int step_y = shape.height * zoom + kGap, step_x = shape.width * zoom + kGap;
  const int count = static_cast<int>(pictures.size()) / columns;
  const int groups = count > 1 ? 2 : 1, rows = (count + groups - 1) / groups;
  DecodedImage sheet;
  sheet.shape = {3, rows * step_y + kGap, groups * (columns * step_x + 3 * kGap) - 2 * kGap};
  sheet.pixels.assign(
      3 * static_cast<size_t>(sheet.shape.height) * static_cast<size_t>(sheet.shape.width), 255);
  for (int i = 0; i < count; ++i) {
    const int top = kGap + i / groups * step_y;
    const int left = kGap + i % groups * (columns * step_x + 3 * kGap);
    for (int column = 0; column < columns; ++column) {
      Paste(pictures[static_cast<size_t>(i * columns + column)], shape, zoom, top,
            left + column * step_x, sheet);
    }
  }
  return sheet;
}

DecodedImage PreviewSheet(const Images& images, std::span<const int> samples,
                          const ViewRecipe& recipe, uint64_t seed) {
  const size_t size = images.ImageSize();
  std::vector<float> first(samples.size() * size), second(first.size());
  MakeViewPairs(images, samples, recipe, {.seed = seed}, first, second);
  std::vector<Bytes> pictures;
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto original = images[samples[i]];
    pictures.emplace_back(original.begin(), original.end());
    for (const auto* views : {&first, &second}) {
      pictures.push_back(Denormalize(std::span<const float>(*views).subspan(i * size, size),
                                     images.channels, recipe.normalization));
    }
  }
  return PictureSheet(pictures, 3, {images.channels, images.height, images.width});
}

}  // namespace kindred

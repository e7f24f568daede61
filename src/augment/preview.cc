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

DecodedImage PreviewSheet(const Images& images, std::span<const int> samples,
                          const ViewRecipe& recipe, uint64_t seed) {
  const size_t size = images.ImageSize();
  std::vector<float> first(samples.size() * size), second(first.size());
  MakeViewPairs(images, samples, recipe, {.seed = seed}, first, second);

  const ImageShape shape = {images.channels, images.height, images.width};
  const int side = std::max(images.height, images.width);
  const int zoom = std::max(1, (kCell + side - 1) / side);
  const int step_y = images.height * zoom + kGap, step_x = images.width * zoom + kGap;
  const int count = static_cast<int>(samples.size());
  const int groups = count > 1 ? 2 : 1, rows = (count + groups - 1) / groups;
  DecodedImage sheet;
  sheet.shape = {3, rows * step_y + kGap, groups * (3 * step_x + 3 * kGap) - 2 * kGap};
  sheet.pixels.assign(
      3 * static_cast<size_t>(sheet.shape.height) * static_cast<size_t>(sheet.shape.width), 255);
  for (int i = 0; i < count; ++i) {
    const int top = kGap + i / groups * step_y;
    const int left = kGap + i % groups * (3 * step_x + 3 * kGap);
    const size_t at = static_cast<size_t>(i) * size;
    Paste(images[samples[static_cast<size_t>(i)]], shape, zoom, top, left, sheet);
    int column = 1;
    for (const auto* views : {&first, &second}) {
      const auto view = std::span<const float>(*views).subspan(at, size);
      Paste(Denormalize(view, images.channels, recipe.normalization), shape, zoom, top,
            left + column++ * step_x, sheet);
    }
  }
  return sheet;
}

}  // namespace kindred

#include "privacy/encoding_preview.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

TEST(EncodingSheet, HasARowAnEncodingAndTwoColumnsMoreThanItMixes) {
  Images images{.count = 6, .height = 8, .width = 8};
  images.pixels.assign(6 * images.ImageSize(), 77);
  const DecodedImage sheet = EncodingSheet(images, {}, 4, 3, SeededSecret(1, 0));
  // Pictures of 8 x 12 = 96 pixels and 4 between them; two groups of two rows of five.
  EXPECT_EQ(sheet.shape.height, 2 * 100 + 4);
  EXPECT_EQ(sheet.shape.width, 2 * (5 * 100 + 12) - 8);
  const auto at = [&](int y, int x) {
    return sheet.pixels[static_cast<size_t>(y) * static_cast<size_t>(sheet.shape.width) +
                        static_cast<size_t>(x)];
  };
  EXPECT_EQ(at(10, 10), 77) << "an image as it is";
  // All images are equal, so the mix is the image: its magnitude is it, too.
  EXPECT_NEAR(at(10, 4 * 100 + 10), 77, 1);
}

}  // namespace
}  // namespace kindred

#include "augment/preview.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

TEST(PreviewSheet, ShowsTheOriginalEnlarged) {
  const Dataset dataset = LoadDataset({.name = "shapes", .limit = 10});
  const std::vector<int> samples = {4, 2, 7};
  const DecodedImage sheet =
      PreviewSheet(dataset.train.images, samples, {.normalization = dataset.normalization}, 1);
  EXPECT_EQ(sheet.shape.height, 2 * 100 + 4);  // two rows of 96 pixels and gaps of 4
  EXPECT_EQ(sheet.pixels[0], 255);
  const auto at = static_cast<size_t>(4 * sheet.shape.width + 4);  // first pixel of the first image
  EXPECT_EQ(sheet.pixels[at], dataset.train.images[4][0]);
  EXPECT_EQ(sheet.pixels[at + 2], dataset.train.images[4][0]);
  EXPECT_EQ(sheet.pixels[at + 3], dataset.train.images[4][1]);
}

}  // namespace
}  // namespace kindred

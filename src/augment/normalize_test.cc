#include "augment/normalize.h"

#include <gtest/gtest.h>

#include "tests/golden.h"

namespace kindred {
namespace {

constexpr Normalization kNormalization = {{0.5f, 0.25f, 0.0f}, {0.5f, 0.25f, 2.0f}};

TEST(Normalize, SubtractsTheMeanAndDividesByTheDeviation) {
  std::vector<float> image = {1, 0, 0.5f, 0.25f, 1, 0};
  Normalize(image, 3, kNormalization);
  EXPECT_EQ(image, (std::vector<float>{1, -1, 1, 0, 0.5f, 0}));
}

TEST(Normalize, DenormalizeGivesTheBytesBack) {
  const Images images = {
      .count = 2, .channels = 3, .height = 9, .width = 9, .pixels = GoldenPattern(3, 18, 9)};
  std::vector<float> plain(images.ImageSize());
  PlainImage(images, 1, kNormalization, plain);
  EXPECT_EQ(Denormalize(plain, 3, kNormalization), Bytes(images[1].begin(), images[1].end()));
}

}  // namespace
}  // namespace kindred

#include "augment/crop.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/golden.h"

namespace kindred {
namespace {

TEST(ResizedCrop, EqualsTorchvision) {
  const ImageShape shape = {3, kGoldenSize, kGoldenSize};
  for (int i = 0; i < 5; ++i) {
    const std::string name = fmt::format("crop{}", i);
    const auto box = ReadGolden(name).parameters;
    const auto at = [&](size_t k) { return static_cast<int>(box[k]); };
    std::vector<float> out(3 * kGoldenSize * kGoldenSize);
    ResizedCrop(GoldenPattern(3, kGoldenSize, kGoldenSize), shape, {at(0), at(1), at(2), at(3)},
                out);
    ExpectGolden(name, out, 1.0);
  }
  std::vector<float> wide(3 * 6 * 11);
  ResizedCrop(GoldenPattern(3, 6, 11), {3, 6, 11}, {1, 3, 4, 7}, wide);
  ExpectGolden("crop_wide", wide, 1.0);
}

// Two pixels 0 and 255 stretched over four columns: bilinear at -.25, .25, .75, 1.25.
TEST(ResizedCrop, StretchesLinearly) {
  const Bytes image = {9, 0, 255, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
  std::vector<float> out(16);
  ResizedCrop(image, {1, 4, 4}, {.top = 0, .left = 1, .height = 1, .width = 2}, out);
  for (size_t row = 0; row < 4; ++row) {
    EXPECT_FLOAT_EQ(out[4 * row + 0], 0.0f);
    EXPECT_FLOAT_EQ(out[4 * row + 1], 0.25f);
    EXPECT_FLOAT_EQ(out[4 * row + 2], 0.75f);
    EXPECT_FLOAT_EQ(out[4 * row + 3], 1.0f);
  }
}

TEST(DrawCrop, KeepsAreaAndRatioWithinTheirBounds) {
  double area = 0;
  for (uint64_t i = 0; i < 200000; ++i) {
    Rng rng({.purpose = Purpose::kViews, .sample = i});
    const CropBox box = DrawCrop(rng, 32, 32, 0.2);
    ASSERT_GE(box.top, 0);
    ASSERT_GE(box.left, 0);
    ASSERT_LE(box.top + box.height, 32);
    ASSERT_LE(box.left + box.width, 32);
    const double share = box.height * box.width / 1024.0;
    ASSERT_GE(share, 0.17);  // .2 less rounding to whole pixels
    const double ratio = static_cast<double>(box.width) / box.height;
    ASSERT_GE(ratio, 0.75 * 0.92);
    ASSERT_LE(ratio, 1.34 * 1.09);
    area += share / 200000;
  }
  // Large areas with a ratio that does not fit are drawn again: below the .6 of a uniform area.
  // torchvision's RandomResizedCrop.get_params averages .5517 over as many draws (error .0005).
  EXPECT_NEAR(area, 0.5517, 0.002);
}

TEST(DrawCrop, FallsBackToTheMiddleOfAStrip) {
  Rng rng({.purpose = Purpose::kViews});
  const CropBox box = DrawCrop(rng, 10, 400, 0.9);  // no box of that area has an allowed ratio
  EXPECT_EQ(box.height, 10);
  EXPECT_EQ(box.width, 13);
  EXPECT_EQ(box.left, 193);
}

}  // namespace
}  // namespace kindred

#include "augment/blur.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/golden.h"

namespace kindred {
namespace {

TEST(GaussianBlur, EqualsTorchvision) {
  for (const std::string name : {"blur0", "blur1"}) {
    auto image = GoldenFloats();
    GaussianBlur(image, {3, kGoldenSize, kGoldenSize},
                 static_cast<float>(ReadGolden(name).parameters[0]));
    ExpectGolden(name, image, 1.0);
  }
}

TEST(GaussianBlur, OfAWideImageEqualsTorchvision) {
  auto image = GoldenFloats(3, 6, 11);
  GaussianBlur(image, {3, 6, 11}, static_cast<float>(ReadGolden("blur_wide").parameters[0]));
  ExpectGolden("blur_wide", image, 1.0);
}

// The definition as loops: a two-dimensional kernel over mirrored positions, in double.
double BlurredAt(const std::vector<float>& image, int height, int width, int y, int x,
                 double sigma) {
  const int half = BlurKernelSize(std::min(height, width)) / 2;
  const auto mirrored = [](int i, int length) {
    return i < 0 ? -i : (i >= length ? 2 * (length - 1) - i : i);
  };
  double sum = 0, weights = 0;
  for (int dy = -half; dy <= half; ++dy) {
    for (int dx = -half; dx <= half; ++dx) {
      const double weight = std::exp(-0.5 * (dy * dy + dx * dx) / (sigma * sigma));
      const int at = mirrored(y + dy, height) * width + mirrored(x + dx, width);
      sum += weight * static_cast<double>(image[static_cast<size_t>(at)]);
      weights += weight;
    }
  }
  return sum / weights;
}

TEST(GaussianBlur, EqualsPlainLoopsWithLargerKernels) {
  for (const auto& [height, width] : {std::pair{64, 50}, {110, 131}, {2, 40}}) {
    const auto image = GoldenFloats(1, height, width);
    auto blurred = image;
    GaussianBlur(blurred, {1, height, width}, 1.8f);
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        ASSERT_NEAR(static_cast<double>(blurred[static_cast<size_t>(y * width + x)]),
                    BlurredAt(image, height, width, y, x, 1.8), 2e-6);
      }
    }
  }
}

TEST(GaussianBlur, LeavesASinglePixelAlone) {
  std::vector<float> image = {0.25f, 0.5f, 0.75f};
  GaussianBlur(image, {3, 1, 1}, 2.0f);
  EXPECT_EQ(image, (std::vector<float>{0.25f, 0.5f, 0.75f}));
}

TEST(GaussianBlur, KernelsAreATenthOfTheSideAndOdd) {
  EXPECT_EQ(BlurKernelSize(9), 3);
  EXPECT_EQ(BlurKernelSize(32), 3);
  EXPECT_EQ(BlurKernelSize(96), 9);
  EXPECT_EQ(BlurKernelSize(224), 23);
}

}  // namespace
}  // namespace kindred

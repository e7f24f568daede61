#include "augment/blur.h"

#include <gtest/gtest.h>

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

TEST(GaussianBlur, KernelsAreATenthOfTheSideAndOdd) {
  EXPECT_EQ(BlurKernelSize(9), 3);
  EXPECT_EQ(BlurKernelSize(32), 3);
  EXPECT_EQ(BlurKernelSize(96), 9);
  EXPECT_EQ(BlurKernelSize(224), 23);
}

}  // namespace
}  // namespace kindred

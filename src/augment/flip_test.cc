#include "augment/flip.h"

#include <gtest/gtest.h>

#include "tests/golden.h"

namespace kindred {
namespace {

TEST(FlipHorizontally, EqualsTorchvisionAndUndoesItself) {
  const ImageShape shape = {3, kGoldenSize, kGoldenSize};
  auto image = GoldenFloats();
  FlipHorizontally(image, shape);
  ExpectGolden("flip", image, 0.01);
  FlipHorizontally(image, shape);
  EXPECT_EQ(image, GoldenFloats());
  auto wide = GoldenFloats(3, 6, 11);
  FlipHorizontally(wide, {3, 6, 11});
  ExpectGolden("flip_wide", wide, 0.01);
}

}  // namespace
}  // namespace kindred

#include "augment/grayscale.h"

#include <gtest/gtest.h>

#include "tests/golden.h"

namespace kindred {
namespace {

TEST(Grayscale, EqualsTorchvision) {
  auto image = GoldenFloats();
  Grayscale(image);
  ExpectGolden("grayscale", image, 1.0);
}

}  // namespace
}  // namespace kindred

#include "data/resize.h"

#include <gtest/gtest.h>

#include "tests/golden.h"

namespace kindred {
namespace {

// Against torchvision's Resize (antialiased) and CenterCrop: half a level from rounding to bytes;
// PIL rounds between its two passes too.
TEST(ResizeToSquare, EqualsTorchvision) {
  for (const std::string name : {"square0", "square1", "square2", "square3"}) {
    const GoldenCase golden = ReadGolden(name);
    const int height = static_cast<int>(golden.parameters[0]);
    const int width = static_cast<int>(golden.parameters[1]);
    Bytes out(3 * 7 * 7);
    ResizeToSquare(GoldenPattern(3, height, width), {3, height, width}, 7, out);
    std::vector<float> levels(out.begin(), out.end());
    std::vector<float> tensor = golden.tensor;
    for (float& value : tensor) value *= 255.0f;
    EXPECT_LE(LargestDifference(levels, tensor), 0.501) << name;
    EXPECT_LE(LargestDifference(levels, golden.pil), 1.0) << name;
  }
}

TEST(ResizeToSquare, KeepsAnImageThatFits) {
  const Bytes in = GoldenPattern(3, 9, 9);
  Bytes out(in.size());
  ResizeToSquare(in, {3, 9, 9}, 9, out);
  EXPECT_EQ(out, in);
}

TEST(ResizeToSquare, TakesExtremeShapes) {
  Bytes out(3 * 4 * 4);
  ResizeToSquare(Bytes(3, 200), {3, 1, 1}, 4, out);
  EXPECT_EQ(out, Bytes(out.size(), 200));
  ResizeToSquare(Bytes(3 * 5000, 70), {3, 5000, 1}, 4, out);
  EXPECT_EQ(out, Bytes(out.size(), 70));
}

}  // namespace
}  // namespace kindred

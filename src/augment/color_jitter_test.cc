#include "augment/color_jitter.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/golden.h"

namespace kindred {
namespace {

// Against torchvision; the last number is how many of PIL's 256 levels we may differ from its 8-bit
// results. PIL keeps hue and saturation in bytes too, so turning the hue is coarse there:
// torchvision's own two backends differ by up to 10 levels on this image.
TEST(ColorJitter, EqualsTorchvision) {
  using Function = void (*)(std::span<float>, float);
  const std::tuple<std::string, int, Function, double> operations[] = {
      {"brightness", 2, AdjustBrightness, 1.0},
      {"contrast", 2, [](std::span<float> image, float f) { AdjustContrast(image, 3, f); }, 1.5},
      {"saturation", 3, AdjustSaturation, 2.0},
      {"hue", 3, AdjustHue, 10.5}};
  for (const auto& [name, count, adjust, levels] : operations) {
    for (int i = 0; i < count; ++i) {
      const std::string each = fmt::format("{}{}", name, i);
      auto image = GoldenFloats();
      adjust(image, static_cast<float>(ReadGolden(each).parameters[0]));
      ExpectGolden(each, image, levels);
    }
  }
}

TEST(ColorJitter, ContrastOfGreyUsesItsMean) {
  auto image = GoldenFloats(1);
  AdjustContrast(image, 1, static_cast<float>(ReadGolden("contrast_grey").parameters[0]));
  ExpectGolden("contrast_grey", image, 1.5);
}

TEST(ColorJitter, NeutralFactorsChangeNothing) {
  auto image = GoldenFloats();
  ApplyJitter(image, 3, {});
  EXPECT_LE(LargestDifference(image, GoldenFloats()), 1e-6);
}

TEST(ColorJitter, GreyKeepsOutSaturationAndHue) {
  auto image = GoldenFloats(1);
  ApplyJitter(image, 1, {.factors = {1, 1, 0.3f, 0.4f}});
  EXPECT_EQ(image, GoldenFloats(1));
}

// Turning by a third makes red green, green blue, blue red.
TEST(AdjustHue, TurnsTheColourCircle) {
  std::vector<float> image = {1, 0,    0, 0.5f, 0, 1,
                              0, 0.5f, 0, 0,    1, 0.5f};  // red, green, blue, grey
  AdjustHue(image, 1.0f / 3.0f);
  const std::vector<float> turned = {0, 0, 1, 0.5f, 1, 0, 0, 0.5f, 0, 1, 0, 0.5f};
  EXPECT_LE(LargestDifference(image, turned), 1e-6);
}

TEST(DrawJitter, DrawsEveryOrderAndFactorsWithinTheirRange) {
  std::map<std::array<int, 4>, int> orders;
  for (uint64_t i = 0; i < 4800; ++i) {
    Rng rng({.purpose = Purpose::kViews, .sample = i});
    const Jitter jitter =
        DrawJitter(rng, {.brightness = 0.4, .contrast = 0.3, .saturation = 0.2, .hue = 0.1});
    ++orders[jitter.order];
    const float strength[] = {0.4f, 0.3f, 0.2f, 0.1f};
    for (size_t k = 0; k < 4; ++k) {
      ASSERT_LE(std::abs(jitter.factors[k] - (k == 3 ? 0.0f : 1.0f)), strength[k] + 1e-6f);
    }
  }
  EXPECT_EQ(orders.size(), 24u);
  for (const auto& [order, count] : orders) EXPECT_NEAR(count, 200, 75);  // deviation 14
}

}  // namespace
}  // namespace kindred

// Colour jitter: brightness, contrast, saturation and hue changed by random amounts in random
// order.
//
// Images are planar floats in [0, 1], changed in place; results are clamped to [0, 1]. Each
// function is torchvision's of the same name on a float tensor.
#pragma once

#include <array>
#include <span>

#include "base/rng.h"

namespace kindred {

// factor x pixel.
void AdjustBrightness(std::span<float> image, float factor);

// factor x pixel + (1 - factor) x mean luma of the image. channels: 1 or 3.
void AdjustContrast(std::span<float> image, int channels, float factor);

// factor x pixel + (1 - factor) x its luma. Colour only.
void AdjustSaturation(std::span<float> image, float factor);

// Turns the hue by `shift` of the full circle, -.5 to .5. Colour only.
void AdjustHue(std::span<float> image, float shift);

// How far each may go: factors uniform in [1 - s, 1 + s], the hue's shift in [-hue, hue].
struct JitterStrength {
  double brightness = 0.4;
  double contrast = 0.4;
  double saturation = 0.4;
  double hue = 0.1;
};

// What was drawn: the operations 0 to 3 (as in JitterStrength) in the order they are applied, and
// their factors.
struct Jitter {
  std::array<int, 4> order = {0, 1, 2, 3};
  std::array<float, 4> factors = {1, 1, 1, 0};
};

Jitter DrawJitter(Rng& rng, const JitterStrength& strength);

// Applies it. Grey images (1 channel) keep out saturation and hue, which cannot change them.
void ApplyJitter(std::span<float> image, int channels, const Jitter& jitter);

}  // namespace kindred

#include "augment/color_jitter.h"

#include <algorithm>

#include "augment/grayscale.h"
#include "base/error.h"
#include "base/vectorize.h"

namespace kindred {
namespace {

inline float Clamp01(float value) { return std::min(std::max(value, 0.0f), 1.0f); }

// Mean of f(p) over 0 <= p < count, in 16 lanes of fixed membership: the same bits at any vector
// width.
template <class Function>
inline float LaneMean(size_t count, Function f) {
  constexpr size_t kLanes = 16;
  float lanes[kLanes] = {};
  size_t p = 0;
  for (; p + kLanes <= count; p += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += f(p + lane);
  }
  double sum = 0;
  for (; p < count; ++p) sum += f(p);
  for (const float lane : lanes) sum += lane;
  return static_cast<float>(sum / static_cast<double>(count));
}

KINDRED_VECTORIZE float MeanLuma(const float* red, const float* green, const float* blue,
                                 size_t plane) {
  return LaneMean(plane, [=](size_t p) { return Luma(red[p], green[p], blue[p]); });
}

KINDRED_VECTORIZE float MeanValue(const float* values, size_t count) {
  return LaneMean(count, [=](size_t p) { return values[p]; });
}

// value <- clamp(factor x value + offset)
KINDRED_VECTORIZE void ScaleAndShift(float* values, size_t count, float factor, float offset) {
  for (size_t p = 0; p < count; ++p) values[p] = Clamp01(factor * values[p] + offset);
}

KINDRED_VECTORIZE void BlendWithLuma(float* __restrict red, float* __restrict green,
                                     float* __restrict blue, size_t plane, float factor) {
  for (size_t p = 0; p < plane; ++p) {
    const float rest = (1.0f - factor) * Luma(red[p], green[p], blue[p]);
    red[p] = Clamp01(factor * red[p] + rest);
    green[p] = Clamp01(factor * green[p] + rest);
    blue[p] = Clamp01(factor * blue[p] + rest);
  }
}

// One channel of a colour given by value v, chroma c and hue sextant k in [0, 6) counted from that
// channel's own zero: v - c clamp(min(k, 4 - k), 0, 1).
inline float Channel(float v, float c, float k) {
  k = k >= 6.0f ? k - 6.0f : k;
  return v - c * Clamp01(std::min(k, 4.0f - k));
}

// RGB to hue and back without leaving the loop: value and chroma stay, the hue (in sixths of a
// turn) moves by `sixths`.
KINDRED_VECTORIZE void TurnHue(float* __restrict red, float* __restrict green,
                               float* __restrict blue, size_t plane, float sixths) {
  for (size_t p = 0; p < plane; ++p) {
    const float r = red[p], g = green[p], b = blue[p];
    const float v = std::max(std::max(r, g), b);
    const float c = v - std::min(std::min(r, g), b);
    const float unit = 1.0f / (c == 0.0f ? 1.0f : c);
    const float from_red = (g - b) * unit;           // -1 to 1
    const float from_green = 2.0f + (b - r) * unit;  // 1 to 3
    const float from_blue = 4.0f + (r - g) * unit;   // 3 to 5
    float hue = v == r ? from_red : (v == g ? from_green : from_blue);
    hue += sixths;
    hue = hue < 0.0f ? hue + 6.0f : hue;
    hue = hue >= 6.0f ? hue - 6.0f : hue;
    red[p] = Channel(v, c, hue + 5.0f);
    green[p] = Channel(v, c, hue + 3.0f);
    blue[p] = Channel(v, c, hue + 1.0f);
  }
}

}  // namespace

void AdjustBrightness(std::span<float> image, float factor) {
  ScaleAndShift(image.data(), image.size(), factor, 0.0f);
}

void AdjustContrast(std::span<float> image, int channels, float factor) {
  const size_t plane = image.size() / static_cast<size_t>(channels);
  const float* data = image.data();
  const float mean = channels == 1 ? MeanValue(data, plane)
                                   : MeanLuma(data, data + plane, data + 2 * plane, plane);
  ScaleAndShift(image.data(), image.size(), factor, (1.0f - factor) * mean);
}

void AdjustSaturation(std::span<float> image, float factor) {
  const size_t plane = image.size() / 3;
  BlendWithLuma(image.data(), image.data() + plane, image.data() + 2 * plane, plane, factor);
}

void AdjustHue(std::span<float> image, float shift) {
  Check(shift >= -0.5f && shift <= 0.5f, "the hue turns by half a circle at most");
  const size_t plane = image.size() / 3;
  TurnHue(image.data(), image.data() + plane, image.data() + 2 * plane, plane, 6.0f * shift);
}

Jitter DrawJitter(Rng& rng, const JitterStrength& strength) {
  Jitter jitter;
  rng.Shuffle(std::span<int>(jitter.order));
  const auto factor = [&](double s) {
    return static_cast<float>(rng.Uniform(std::max(0.0, 1.0 - s), 1.0 + s));
  };
  // Braces of an initialiser list are evaluated in order.
  jitter.factors = {factor(strength.brightness), factor(strength.contrast),
                    factor(strength.saturation),
                    static_cast<float>(rng.Uniform(-strength.hue, strength.hue))};
  return jitter;
}

void ApplyJitter(std::span<float> image, int channels, const Jitter& jitter) {
  for (const int operation : jitter.order) {
    const float factor = jitter.factors[static_cast<size_t>(operation)];
    if (operation == 0) AdjustBrightness(image, factor);
    if (operation == 1) AdjustContrast(image, channels, factor);
    if (operation == 2 && channels == 3) AdjustSaturation(image, factor);
    if (operation == 3 && channels == 3) AdjustHue(image, factor);
  }
}

}  // namespace kindred

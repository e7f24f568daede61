// Golden values: what torchvision makes of a fixed image (tests/golden/views.py).
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"

namespace kindred {

struct GoldenCase {
  std::vector<double> parameters;
  std::vector<float> tensor;  // from float tensors
  std::vector<float> pil;     // from 8-bit PIL images, in levels
};

inline constexpr int kGoldenSize = 9;

inline GoldenCase ReadGolden(const std::string& name) {
  std::ifstream in(std::string(KINDRED_SOURCE_DIR) + "/tests/golden/views.json");
  const auto all = nlohmann::json::parse(in);
  const auto& entry = all.at("cases").at(name);
  return {entry.at("parameters"), entry.at("tensor"), entry.at("pil")};
}

// The image that views.py builds: bytes [channels, height, width].
inline Bytes GoldenPattern(int channels, int height, int width) {
  Bytes image;
  for (int c = 0; c < channels; ++c) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        image.push_back(
            static_cast<uint8_t>(37 * c + 11 * y + 7 * x + (c + 1) * x * y + 5 * (x ^ y)));
      }
    }
  }
  return image;
}

// The same, scaled to [0, 1].
inline std::vector<float> GoldenFloats(int channels = 3, int height = kGoldenSize,
                                       int width = kGoldenSize) {
  std::vector<float> image;
  for (const uint8_t value : GoldenPattern(channels, height, width)) {
    image.push_back(static_cast<float>(value) / 255.0f);
  }
  return image;
}

inline double LargestDifference(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return INFINITY;
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(difference <= largest)) largest = difference;  // a NaN stays
  }
  return largest;
}

// Tolerances: float tensors agree to rounding; PIL rounds every step to one of 256 levels.
inline constexpr double kTensorTolerance = 2e-6;

inline void ExpectGolden(const std::string& name, std::span<const float> result,
                         double pil_levels) {
  const GoldenCase golden = ReadGolden(name);
  EXPECT_LE(LargestDifference(result, golden.tensor), kTensorTolerance) << name;
  std::vector<float> levels(result.begin(), result.end());
  for (float& value : levels) value *= 255.0f;
  EXPECT_LE(LargestDifference(levels, golden.pil), pil_levels) << name;
}

}  // namespace kindred

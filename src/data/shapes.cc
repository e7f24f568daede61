#include "data/shapes.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"

namespace kindred {
namespace {

constexpr int kDefaultSize = 32;
constexpr int kTrain = 2000;
constexpr int kTest = 500;

// A shape covers the point (x, y) of the square [-1, 1]^2, or not.
using Shape = bool (*)(double x, double y);

struct NamedShape {
  const char* name;
  Shape covers;
};

bool InSquare(double x, double y) { return std::max(std::abs(x), std::abs(y)) <= 0.85; }
bool Odd(double x) { return (static_cast<int>(std::floor(x)) & 1) != 0; }

constexpr NamedShape kShapes[] = {
    {"disk", [](double x, double y) { return std::hypot(x, y) <= 0.95; }},
    {"ring",
     [](double x, double y) { return std::hypot(x, y) <= 0.95 && std::hypot(x, y) >= 0.55; }},
    {"square", [](double x, double y) { return InSquare(x, y); }},
    {"frame", [](double x, double y) { return InSquare(x, y) && !InSquare(1.7 * x, 1.7 * y); }},
    {"triangle", [](double x, double y) { return y <= 0.85 && y >= 2 * std::abs(x) - 0.9; }},
    {"cross", [](double x,
                 double y) { return InSquare(x, y) && std::abs(std::abs(x) - std::abs(y)) < 0.3; }},
    {"plus", [](double x,
                double y) { return InSquare(x, y) && std::min(std::abs(x), std::abs(y)) < 0.28; }},
    {"bars", [](double x, double y) { return InSquare(x, y) && Odd(2.9 * (x + 0.85)); }},
    {"rails", [](double x, double y) { return InSquare(x, y) && Odd(2.9 * (y + 0.85)); }},
    {"checker",
     [](double x, double y) {
       return InSquare(x, y) && Odd(2.36 * (x + 0.85)) != Odd(2.36 * (y + 0.85));
     }},
};
constexpr int kClasses = static_cast<int>(std::size(kShapes));

// Draws one image into planar bytes [3, size, size].
void Draw(Shape covers, int size, Rng& rng, uint8_t* out) {
  double fore[3], back[3];
  for (int c = 0; c < 3; ++c) {
    back[c] = rng.Uniform(0.1, 0.9);
    const double shift = rng.Uniform(0.25, 0.5);
    fore[c] = back[c] < 0.5 ? back[c] + shift : back[c] - shift;
  }
  const double radius = rng.Uniform(0.28, 0.45);
  const double center_x = rng.Uniform(radius, 1 - radius);
  const double center_y = rng.Uniform(radius, 1 - radius);
  constexpr int kSub = 2;  // 2x2 points a pixel soften the edges
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      int hits = 0;
      for (int s = 0; s < kSub * kSub; ++s) {
        const double px = (x + (s % kSub + 0.5) / kSub) / size;
        const double py = (y + (s / kSub + 0.5) / kSub) / size;
        hits += covers((px - center_x) / radius, (py - center_y) / radius) ? 1 : 0;
      }
      const double cover = static_cast<double>(hits) / (kSub * kSub);
      for (int c = 0; c < 3; ++c) {
        const double value = back[c] + cover * (fore[c] - back[c]) + rng.Uniform(-0.06, 0.06);
        out[(c * size + y) * size + x] =
            static_cast<uint8_t>(std::clamp(value, 0.0, 1.0) * 255.0 + 0.5);
      }
    }
  }
}

Split DrawSplit(int count, int size, uint32_t which) {
  Split split;
  split.images.count = count;
  split.images.height = split.images.width = size;
  split.images.pixels.resize(static_cast<size_t>(count) * split.images.ImageSize());
  for (int i = 0; i < count; ++i) {
    Rng rng({.seed = 0,
             .purpose = Purpose::kShapes,
             .round = which,
             .sample = static_cast<uint64_t>(i)});
    const int label = i % kClasses;
    Draw(kShapes[label].covers, size, rng,
         split.images.pixels.data() + static_cast<size_t>(i) * split.images.ImageSize());
    split.labels.push_back(label);
  }
  return split;
}

}  // namespace

Dataset LoadShapes(const DataOptions& options) {
  const int size = options.size > 0 ? options.size : kDefaultSize;
  Dataset dataset;
  dataset.train = DrawSplit(options.limit > 0 ? options.limit : kTrain, size, options.draw);
  dataset.test = DrawSplit(kTest, size, 1);
  for (const auto& shape : kShapes) dataset.label_names.emplace_back(shape.name);
  return dataset;
}

}  // namespace kindred

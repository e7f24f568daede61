// A small random encoder, and images of two classes that it can tell apart.
#pragma once

#include "augment/views.h"
#include "model/encoder.h"
#include "model/network.h"
#include "model/resnet.h"

namespace kindred {

inline Encoder TinyEncoder(uint64_t seed = 3) {
  const ModelOptions options = {.arch = "resnet10", .width = 4, .bn_splits = 1};
  ResNet model(options, 3);
  Initialize(*model, seed);
  return {Clone(OwnTensorsOf(*model)), options, {{3, 8, 8}, {{.5f, .4f, .3f}, {.2f, .2f, .3f}}}};
}

// Two classes, dark and bright, with noise.
struct Lamps {
  Images images = {.count = 0, .height = 8, .width = 8};
  std::vector<int> labels;
  Lamps(int count, uint64_t seed) {
    images.count = count;
    Rng rng({.seed = seed, .purpose = Purpose::kShapes});
    for (int i = 0; i < count; ++i) {
      labels.push_back(i % 2);
      for (size_t p = 0; p < images.ImageSize(); ++p) {
        images.pixels.push_back(static_cast<uint8_t>(rng.Below(120) + (i % 2 ? 120 : 0)));
      }
    }
  }
};

}  // namespace kindred

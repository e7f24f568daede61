// Views: the random transformations of an image that contrastive learning calls the same (paper,
// Sect. 2: query and key are "two transformations of the same input image").
#pragma once

#include <span>

#include "augment/color_jitter.h"
#include "base/config.h"
#include "base/rng.h"
#include "data/dataset.h"

namespace kindred {

// [views]. The defaults are MoCo v2's for small images, without blur.
struct ViewOptions {
  double crop = 0.2;        // least area of a crop
  double flip = 0.5;        // probability
  double jitter = 0.8;      // probability of colour jitter
  JitterStrength strength;  // how much of it
  double grey = 0.2;        // probability of grey
  double blur = 0;          // probability of blur
  double blur_sigma_min = 0.1;
  double blur_sigma_max = 2.0;
};

void Bind(Config& config, ViewOptions& options);

// Throws a usage error when values that are right alone do not fit together.
void Validate(const ViewOptions& options);

// Crops and mirror images alone: the views of learning with labels.
ViewOptions CropAndFlip(double crop);

// How views are made: what is drawn, and how pixels are normalised.
struct ViewRecipe {
  ViewOptions options;
  Normalization normalization;
};

// Draws one view of image i: crop, flip, jitter, grey, blur, normalise. Images from a grey source
// get neither saturation, hue nor grey. The draws come from `rng` alone, so a view is a function of
// the stream's key. out: images.ImageSize() floats, planar.
void MakeView(const Images& images, int i, const ViewRecipe& recipe, Rng& rng,
              std::span<float> out);

// Names the views of one local epoch; each image adds its place, each view its number.
struct ViewKey {
  uint64_t seed = 0;
  uint32_t round = 0;
  uint32_t client = 0;
  uint32_t epoch = 0;
};

// Two views of each sample of a client. images: the client's own, samples: positions in them. first
// and second: [samples, channels, height, width]. May be called from several threads for different
// samples: the result does not depend on how they are grouped.
void MakeViewPairs(const Images& images, std::span<const int> samples, const ViewRecipe& recipe,
                   const ViewKey& key, std::span<float> first, std::span<float> second);

}  // namespace kindred

// Pixels as the model sees them: scaled to [0, 1], the mean subtracted, divided by the deviation.
#pragma once

#include <cstdint>
#include <span>

#include "data/dataset.h"

namespace kindred {

// image: planar floats [channels, ...] in [0, 1], in place.
void Normalize(std::span<float> image, int channels, const Normalization& normalization);

// Image i without augmentation. out: images.ImageSize() floats.
void PlainImage(const Images& images, int i, const Normalization& normalization,
                std::span<float> out);

// The way back, clamped and rounded: for showing views to people.
Bytes Denormalize(std::span<const float> image, int channels, const Normalization& normalization);

}  // namespace kindred

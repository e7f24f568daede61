// A sheet of pictures that shows what training sees.
#pragma once

#include <span>

#include "augment/views.h"
#include "data/image_file.h"

namespace kindred {

// One row an image, two groups of rows side by side: the original, then its two views of the first
// epoch (round 0, client 0). Pixels are enlarged so that a person can see them.
DecodedImage PreviewSheet(const Images& images, std::span<const int> samples,
                          const ViewRecipe& recipe, uint64_t seed);

}  // namespace kindred

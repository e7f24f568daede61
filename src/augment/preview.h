// A sheet of pictures that shows what training sees.
#pragma once

#include <span>
#include <vector>

#include "augment/views.h"
#include "data/image_file.h"

namespace kindred {

// Pictures of one shape in rows of equal length, two groups of rows side by side when there is more
// than one; small pictures are enlarged by a whole factor. pictures: planar bytes, row after row.
DecodedImage PictureSheet(const std::vector<Bytes>& pictures, int columns, const ImageShape& shape);

// One row per image, two groups of rows side by side: the original, then its two views of the first
// epoch (round 0, client 0). Pixels are enlarged so that a person can see them.
DecodedImage PreviewSheet(const Images& images, std::span<const int> samples,
                          const ViewRecipe& recipe, uint64_t seed);

}  // namespace kindred

#include "augment/flip.h"

#include <algorithm>

namespace kindred {

void FlipHorizontally(std::span<float> image, const ImageShape& shape) {
  const auto width = static_cast<size_t>(shape.width);
  for (size_t row = 0; row + width <= image.size(); row += width) {
    std::reverse(image.begin() + static_cast<ptrdiff_t>(row),
                 image.begin() + static_cast<ptrdiff_t>(row + width));
  }
}

}  // namespace kindred

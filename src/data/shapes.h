// Drawn shapes: a dataset that needs no file, for tests and first steps.
#pragma once

#include "data/dataset.h"

namespace kindred {

// Ten classes (disk, ring, square, frame, triangle, cross, plus, bars, rails, checker) in random
// place, size, colours and noise on a random background; image i has class i mod 10. The set is the
// same for everyone: image i is a function of i, the split and options.size (32 when 0). 2000
// training images, or options.limit; 500 test images.
Dataset LoadShapes(const DataOptions& options);

}  // namespace kindred

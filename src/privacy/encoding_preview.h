// A sheet of pictures that shows what InstaHide makes of images.
#pragma once

#include "data/image_file.h"
#include "privacy/instahide.h"

namespace kindred {

// One row per encoding: the k images it mixes, heaviest first, the encoding, and its magnitudes,
// which anyone who has the encoding has. All images are taken as one client's. count, k as in
// DrawMixes.
DecodedImage EncodingSheet(const Images& images, const Normalization& normalization, int count,
                           int k, const Secret& secret);

}  // namespace kindred

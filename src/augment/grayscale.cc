#include "augment/grayscale.h"

#include "base/vectorize.h"

namespace kindred {
namespace {

KINDRED_VECTORIZE void GrayscalePlanes(float* __restrict red, float* __restrict green,
                                       float* __restrict blue, size_t plane) {
  for (size_t p = 0; p < plane; ++p) {
    red[p] = green[p] = blue[p] = Luma(red[p], green[p], blue[p]);
  }
}

}  // namespace

void Grayscale(std::span<float> image) {
  const size_t plane = image.size() / 3;
  GrayscalePlanes(image.data(), image.data() + plane, image.data() + 2 * plane, plane);
}

}  // namespace kindred

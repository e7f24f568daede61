#include "augment/normalize.h"

#include <algorithm>

#include "base/error.h"
#include "base/vectorize.h"

namespace kindred {
namespace {

KINDRED_VECTORIZE void NormalizePlane(float* values, size_t count, float mean, float std) {
  for (size_t p = 0; p < count; ++p) values[p] = (values[p] - mean) / std;
}

KINDRED_VECTORIZE void ScaleBytes(const uint8_t* bytes, size_t count, float* out) {
  for (size_t p = 0; p < count; ++p) out[p] = static_cast<float>(bytes[p]) * (1.0f / 255.0f);
}

}  // namespace

void Normalize(std::span<float> image, int channels, const Normalization& normalization) {
  const size_t plane = image.size() / static_cast<size_t>(channels);
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
    NormalizePlane(image.data() + c * plane, plane, normalization.mean[c], normalization.std[c]);
  }
}

void PlainImage(const Images& images, int i, const Normalization& normalization,
                std::span<float> out) {
  Check(out.size() == images.ImageSize(), "the output is not the size of an image");
  ScaleBytes(images[i].data(), out.size(), out.data());
  Normalize(out, images.channels, normalization);
}

Bytes Denormalize(std::span<const float> image, int channels, const Normalization& normalization) {
  const size_t plane = image.size() / static_cast<size_t>(channels);
  Bytes bytes(image.size());
  for (size_t p = 0; p < image.size(); ++p) {
    const float value = image[p] * normalization.std[p / plane] + normalization.mean[p / plane];
    bytes[p] = static_cast<uint8_t>(std::clamp(value, 0.0f, 1.0f) * 255.0f + 0.5f);
  }
  return bytes;
}

}  // namespace kindred

#include "privacy/encoding_preview.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "augment/normalize.h"
#include "augment/preview.h"

namespace kindred {

DecodedImage EncodingSheet(const Images& images, const Normalization& normalization, int count,
                           int k, const Secret& secret) {
  const auto mixes = DrawMixes(images.count, count, k, secret, 0);
  const size_t size = images.ImageSize();
  std::vector<float> encodings(mixes.size() * size);
  SecretStream signs(secret, {0, SecretUse::Part::kSigns});
  EncodeMixes(images, normalization, mixes, signs, encodings);
  std::vector<Bytes> pictures;
  for (size_t m = 0; m < mixes.size(); ++m) {
    std::vector<size_t> order(mixes[m].images.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return mixes[m].weights[a] > mixes[m].weights[b]; });
    for (const size_t i : order) {
      const auto image = images[mixes[m].images[i]];
      pictures.emplace_back(image.begin(), image.end());
    }
    const auto encoding = std::span(encodings).subspan(m * size, size);
    pictures.push_back(Denormalize(encoding, images.channels, normalization));
    for (float& value : encoding) value = std::abs(value);
    pictures.push_back(Denormalize(encoding, images.channels, normalization));
  }
  return PictureSheet(pictures, k + 2, {images.channels, images.height, images.width});
}

}  // namespace kindred

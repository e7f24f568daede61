// IDX: accepted images and labels are written as the bytes they were read from.
#include "data/idx.h"
#include "tests/fuzz/target.h"

namespace kindred {

void Fuzz(std::span<const uint8_t> input) {
  const Bytes bytes(input.begin(), input.end());
  if (const auto images = Accepted([&] { return ParseIdxImages(input, "input"); })) {
    Require(images->count > 0 && images->channels == 1, "images without a count");
    Require(images->pixels.size() == static_cast<size_t>(images->count) * images->ImageSize(),
            "pixels that are not those of the images");
    Require(SerializeIdxImages(*images) == bytes, "other images are written");
  }
  constexpr int kClasses = 10;
  if (const auto labels = Accepted([&] { return ParseIdxLabels(input, kClasses, "input"); })) {
    for (const int label : *labels) Require(label >= 0 && label < kClasses, "a label of no class");
    Require(SerializeIdxLabels(*labels) == bytes, "other labels are written");
  }
}

}  // namespace kindred

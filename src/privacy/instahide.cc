#include "privacy/instahide.h"

#include <algorithm>

#include "augment/normalize.h"
#include "base/error.h"

namespace kindred {
std::vector<Mix> DrawMixes(int images, int count, int k, const Secret& secret, uint32_t round) {
  Check(2 <= k && k <= images && 0 <= count && count <= images, "mixes that cannot be drawn");
  SecretStream stream(secret, {round, SecretUse::Part::kMixes});
  const auto order = stream.Permutation(images);
  std::vector<Mix> mixes;
  for (int i = 0; i < count; ++i) {
    Mix mix = {{order[static_cast<size_t>(i)]}, DrawWeights(k, stream)};
    while (static_cast<int>(mix.images.size()) < k) {
      const auto other = static_cast<int>(stream.Below(static_cast<uint64_t>(images)));
      if (std::find(mix.images.begin(), mix.images.end(), other) == mix.images.end()) {
        mix.images.push_back(other);
      }
    }
    mixes.push_back(std::move(mix));
  }
  return mixes;
}

void EncodeMixes(const Images& images, const Normalization& normalization,
                 std::span<const Mix> mixes, SecretStream& signs, std::span<float> out) {
  const size_t size = images.ImageSize();
  Check(out.size() == mixes.size() * size, "room for other than the mixes");
  std::vector<float> image(size);
  for (size_t m = 0; m < mixes.size(); ++m) {
    const auto encoding = out.subspan(m * size, size);
    std::fill(encoding.begin(), encoding.end(), 0.0f);
    for (size_t i = 0; i < mixes[m].images.size(); ++i) {
      PlainImage(images, mixes[m].images[i], normalization, image);
      const auto weight = static_cast<float>(mixes[m].weights[i]);
      for (size_t v = 0; v < size; ++v) encoding[v] += weight * image[v];
    }
    uint64_t bits = 0;
    for (size_t v = 0; v < size; ++v, bits >>= 1) {
      if (v % 64 == 0) bits = signs();
      if (bits & 1) encoding[v] = -encoding[v];
    }
  }
}

}  // namespace kindred

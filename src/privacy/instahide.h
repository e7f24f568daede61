// InstaHide (Huang et al. 2020): images mixed with each other, every sign drawn at random.
//
// This is obfuscation, not encryption: Carlini et al. (2021) reconstructed the images of the
// authors' own challenge from their encodings. See docs/privacy.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "privacy/secret_stream.h"

namespace kindred {

// No image weighs more than this in a mix.
inline constexpr double kHeaviest = 0.65;

// What one encoding mixes: k different images of one client and their weights, which sum to 1.
struct Mix {
  std::vector<int> images;
  std::vector<double> weights;
};

// k weights of a mix: |N(0, 1)| scaled to sum 1, drawn again while one exceeds kHeaviest.
template <class Stream>
std::vector<double> DrawWeights(int k, Draws<Stream>& stream) {
  std::vector<double> weights(static_cast<size_t>(k));
  do {
    double sum = 0;
    for (double& weight : weights) sum += weight = std::abs(stream.Normal());
    for (double& weight : weights) weight /= sum;
  } while (!(*std::max_element(weights.begin(), weights.end()) <= kHeaviest));
  return weights;
}

// `count` mixes of k of a client's `images` images. The first images of the mixes are all different
// and drawn at random. 2 <= k <= images, count <= images. Depends on the secret and the round
// alone.
std::vector<Mix> DrawMixes(int images, int count, int k, const Secret& secret, uint32_t round);

// x' = sigma * sum_i lambda_i x_i for each mix: normalised pixels, a fresh random sign for each
// value. out: [mixes, channels, height, width] floats.
void EncodeMixes(const Images& images, const Normalization& normalization,
                 std::span<const Mix> mixes, SecretStream& signs, std::span<float> out);

}  // namespace kindred

#include "privacy/instahide.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "augment/normalize.h"

namespace kindred {
namespace {

Images HideImages(int count) {
  Images images{.count = count, .channels = 3, .height = 4, .width = 5};
  for (size_t i = 0; i < static_cast<size_t>(count) * images.ImageSize(); ++i) {
    images.pixels.push_back(static_cast<uint8_t>((i * 37 + i / 7) % 256));
  }
  return images;
}

const Normalization kHideNormalization = {{0.5f, 0.4f, 0.3f}, {0.2f, 0.25f, 0.3f}};

TEST(InstaHide, MixesKDifferentImagesByWeightsThatSumToOne) {
  for (const int k : {2, 4, 6}) {
    const auto mixes = DrawMixes(40, 30, k, SeededSecret(1, 2), 3);
    ASSERT_EQ(mixes.size(), 30u);
    std::set<int> first;
    for (const Mix& mix : mixes) {
      ASSERT_EQ(mix.images.size(), static_cast<size_t>(k));
      ASSERT_EQ(mix.weights.size(), static_cast<size_t>(k));
      EXPECT_EQ(std::set<int>(mix.images.begin(), mix.images.end()).size(), static_cast<size_t>(k));
      EXPECT_TRUE(first.insert(mix.images[0]).second) << "an image is the first of one mix";
      for (const int image : mix.images) EXPECT_TRUE(image >= 0 && image < 40);
      EXPECT_NEAR(std::accumulate(mix.weights.begin(), mix.weights.end(), 0.0), 1, 1e-12);
      for (const double weight : mix.weights) {
        EXPECT_GE(weight, 0);
        EXPECT_LE(weight, kHeaviest);
      }
    }
  }
}

TEST(InstaHide, WeightsAreMagnitudesOfNormalsScaledToOne) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Rng rng({.seed = seed, .purpose = Purpose::kMixViews}), again = rng;
    const auto weights = DrawWeights(2, rng);
    double a = 0, b = 0;
    do {  // of two, the larger exceeds .65 often
      a = std::abs(again.Normal());
      b = std::abs(again.Normal());
    } while (std::max(a, b) / (a + b) > 0.65);
    EXPECT_DOUBLE_EQ(weights[0], a / (a + b));
    EXPECT_DOUBLE_EQ(weights[1], b / (a + b));
  }
}

TEST(InstaHide, AsManyImagesAsAMixTakesAreEnough) {
  for (const Mix& mix : DrawMixes(4, 4, 4, SeededSecret(1, 2), 0)) {
    auto images = mix.images;
    std::sort(images.begin(), images.end());
    EXPECT_EQ(images, (std::vector<int>{0, 1, 2, 3}));
  }
}

// Without the cut at .65 the largest of two weights would exceed it often; with it the mean weight
// of each place is 1/k by symmetry: 2,000 mixes of 4, deviation of a weight below .2.
TEST(InstaHide, EveryPlaceOfAMixWeighsTheSameOnAverage) {
  double sums[4] = {};
  for (uint32_t round = 0; round < 20; ++round) {
    for (const Mix& mix : DrawMixes(100, 100, 4, SeededSecret(5, 0), round)) {
      for (size_t i = 0; i < 4; ++i) sums[i] += mix.weights[i];
    }
  }
  for (const double sum : sums) EXPECT_NEAR(sum / 2000, 0.25, 5 * 0.2 / std::sqrt(2000.0));
}

TEST(InstaHide, DependsOnSecretAndRound) {
  const auto images = [](uint64_t seed, int client, uint32_t round) {
    std::vector<int> all;
    for (const Mix& mix : DrawMixes(50, 20, 4, SeededSecret(seed, client), round)) {
      all.insert(all.end(), mix.images.begin(), mix.images.end());
    }
    return all;
  };
  EXPECT_EQ(images(1, 2, 3), images(1, 2, 3));
  EXPECT_NE(images(1, 2, 3), images(2, 2, 3));
  EXPECT_NE(images(1, 2, 3), images(1, 3, 3));
  EXPECT_NE(images(1, 2, 3), images(1, 2, 4));
}

TEST(InstaHide, AnEncodingIsTheMixWithItsSignsAtRandom) {
  const Images images = HideImages(6);
  const std::vector<Mix> mixes = {{{4, 1}, {0.6, 0.4}}, {{0, 5, 2}, {0.5, 0.25, 0.25}}};
  const size_t size = images.ImageSize();
  std::vector<float> out(2 * size);
  SecretStream signs(SeededSecret(1, 1), {0, SecretUse::Part::kSigns});
  EncodeMixes(images, kHideNormalization, mixes, signs, out);
  int negative = 0;
  for (size_t m = 0; m < 2; ++m) {
    std::vector<double> sum(size);
    for (size_t i = 0; i < mixes[m].images.size(); ++i) {
      std::vector<float> plain(size);
      PlainImage(images, mixes[m].images[i], kHideNormalization, plain);
      for (size_t v = 0; v < size; ++v) sum[v] += mixes[m].weights[i] * plain[v];
    }
    for (size_t v = 0; v < size; ++v) {
      EXPECT_NEAR(std::abs(out[m * size + v]), std::abs(sum[v]), 1e-5);
      negative += out[m * size + v] * sum[v] < 0 ? 1 : 0;
    }
  }
  // 120 fair signs: 60 with a deviation of 5.5.
  EXPECT_NEAR(negative, 60, 5 * 5.5);
}

TEST(InstaHide, SignsAreFreshForEveryEncoding) {
  const Images images = HideImages(2);
  const std::vector<Mix> mixes(2, {{0, 1}, {0.5, 0.5}});
  std::vector<float> out(2 * images.ImageSize());
  SecretStream signs(SeededSecret(1, 1), {0, SecretUse::Part::kSigns});
  EncodeMixes(images, kHideNormalization, mixes, signs, out);
  EXPECT_FALSE(std::equal(out.begin(), out.begin() + 60, out.begin() + 60));
}

}  // namespace
}  // namespace kindred

#include "augment/views.h"

#include <gtest/gtest.h>

#include <thread>

#include "augment/blur.h"
#include "augment/crop.h"
#include "augment/flip.h"
#include "augment/grayscale.h"
#include "augment/normalize.h"
#include "tests/golden.h"
#include "tests/throws.h"

namespace kindred {
namespace {

struct Pairs {
  std::vector<float> first, second;
};

Pairs Make(const Dataset& dataset, const std::vector<int>& samples, const ViewKey& key,
           const ViewOptions& options = {}) {
  const size_t size = samples.size() * dataset.train.images.ImageSize();
  Pairs pairs{std::vector<float>(size), std::vector<float>(size)};
  MakeViewPairs(dataset.train.images, samples, {options, dataset.normalization}, key, pairs.first,
                pairs.second);
  return pairs;
}

Dataset Shapes(int count, int channels = 3) {
  return LoadDataset({.name = "shapes", .channels = channels, .limit = count});
}

// The steps of views.py's "view" in a row, through our functions. Against PIL, whose steps round to
// bytes, in units of the deviation.
TEST(Views, ComposedStepsEqualTorchvision) {
  const ImageShape shape = {3, kGoldenSize, kGoldenSize};
  std::vector<float> view(3 * kGoldenSize * kGoldenSize);
  ResizedCrop(GoldenPattern(3, kGoldenSize, kGoldenSize), shape, {1, 2, 7, 6}, view);
  FlipHorizontally(view, shape);
  ApplyJitter(view, 3, {.order = {2, 0, 3, 1}, .factors = {1.2f, 1.3f, 0.7f, -0.05f}});
  Normalize(view, 3, {{.4914f, .4822f, .4465f}, {.2470f, .2435f, .2616f}});
  const GoldenCase golden = ReadGolden("view");
  EXPECT_LE(LargestDifference(view, golden.tensor), 1e-5);
  EXPECT_LE(LargestDifference(view, golden.pil), 0.12);
}

TEST(Views, AreAFunctionOfTheKeyAndTheSample) {
  const Dataset dataset = Shapes(20);
  const ViewKey key = {.seed = 1, .round = 2, .client = 3, .epoch = 4};
  const Pairs a = Make(dataset, {3, 5}, key), b = Make(dataset, {5, 7, 3}, key);
  const size_t size = dataset.train.images.ImageSize();
  const auto part = [&](const std::vector<float>& views, size_t i) {
    return std::vector<float>(views.begin() + static_cast<ptrdiff_t>(i * size),
                              views.begin() + static_cast<ptrdiff_t>((i + 1) * size));
  };
  EXPECT_EQ(part(a.first, 0), part(b.first, 2));
  EXPECT_EQ(part(a.second, 1), part(b.second, 0));
  EXPECT_NE(part(a.first, 0), part(a.second, 0));
  for (const ViewKey& other :
       {ViewKey{2, 2, 3, 4}, ViewKey{1, 3, 3, 4}, ViewKey{1, 2, 4, 4}, ViewKey{1, 2, 3, 5}}) {
    EXPECT_NE(Make(dataset, {3}, other).first, part(a.first, 0));
  }
}

TEST(Views, DoNotDependOnThreads) {
  const Dataset dataset = Shapes(64);
  std::vector<int> samples(64);
  for (int i = 0; i < 64; ++i) samples[static_cast<size_t>(i)] = i;
  const ViewOptions options = {.blur = 0.5};
  const Pairs alone = Make(dataset, samples, {}, options);
  const size_t size = dataset.train.images.ImageSize();
  Pairs together{std::vector<float>(64 * size), std::vector<float>(64 * size)};
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      MakeViewPairs(dataset.train.images, std::span(samples).subspan(16 * t, 16),
                    {options, dataset.normalization}, {},
                    std::span(together.first).subspan(16 * t * size, 16 * size),
                    std::span(together.second).subspan(16 * t * size, 16 * size));
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(alone.first, together.first);
  EXPECT_EQ(alone.second, together.second);
}

// Everything off: the crop takes the whole image, since no other box of its area fits.
constexpr ViewOptions kOff = {.crop = 1, .flip = 0, .jitter = 0, .grey = 0};

TEST(Views, WithEverythingOffIsThePlainImage) {
  const Dataset dataset = Shapes(3);
  std::vector<float> plain(dataset.train.images.ImageSize());
  PlainImage(dataset.train.images, 1, dataset.normalization, plain);
  EXPECT_LE(LargestDifference(Make(dataset, {1}, {}, kOff).first, plain), 1e-5);
}

// One step at a time, always on: the view is that step on the plain image.
TEST(Views, EachStepIsApplied) {
  Dataset dataset = Shapes(3);
  dataset.normalization = {};  // pixels stay in [0, 1]
  const ImageShape shape = {3, 32, 32};
  std::vector<float> plain(dataset.train.images.ImageSize());
  PlainImage(dataset.train.images, 1, dataset.normalization, plain);
  const auto expect = [&](const char* step, ViewOptions options, auto apply) {
    auto expected = plain;
    apply(expected);
    EXPECT_GT(LargestDifference(expected, plain), 0.05) << step;
    EXPECT_LE(LargestDifference(Make(dataset, {1}, {}, options).first, expected), 1e-5) << step;
  };
  ViewOptions flip = kOff, grey = kOff, blur = kOff;
  flip.flip = 1;
  expect("flip", flip, [&](std::span<float> image) { FlipHorizontally(image, shape); });
  grey.grey = 1;
  expect("grey", grey, [&](std::span<float> image) { Grayscale(image); });
  blur.blur = 1;
  blur.blur_sigma_min = blur.blur_sigma_max = 1.3;
  expect("blur", blur, [&](std::span<float> image) { GaussianBlur(image, shape, 1.3f); });
}

TEST(Views, JitterAndCropChangeTheImageByTheirStrength) {
  const Dataset dataset = Shapes(3);
  const auto plain = Make(dataset, {1}, {}, kOff).first;
  ViewOptions jitter = kOff, crop = kOff;
  jitter.jitter = 1;
  EXPECT_GT(LargestDifference(Make(dataset, {1}, {}, jitter).first, plain), 0.05);
  jitter.strength = {0, 0, 0, 0};
  EXPECT_LE(LargestDifference(Make(dataset, {1}, {}, jitter).first, plain), 1e-5);
  crop.crop = 0.2;
  EXPECT_GT(LargestDifference(Make(dataset, {1}, {}, crop).first, plain), 0.05);
}

TEST(Views, OfGreyImagesStayGrey) {
  Dataset dataset = Shapes(8, 1);
  dataset.train.images = WithChannels(std::move(dataset.train.images), 3);
  dataset.normalization = {{.3f, .3f, .3f}, {.2f, .2f, .2f}};
  const std::vector<float> views = Make(dataset, {0, 1, 2, 3, 4, 5, 6, 7}, {}).first;
  const size_t plane = dataset.train.images.PlaneSize();
  for (size_t i = 0; i < 8; ++i) {
    const auto at = views.begin() + static_cast<ptrdiff_t>(3 * i * plane);
    EXPECT_TRUE(
        std::equal(at, at + static_cast<ptrdiff_t>(plane), at + static_cast<ptrdiff_t>(plane)));
    EXPECT_TRUE(
        std::equal(at, at + static_cast<ptrdiff_t>(plane), at + static_cast<ptrdiff_t>(2 * plane)));
  }
}

TEST(Views, GreyHappensAsOftenAsItsProbabilitySays) {
  const Dataset dataset = Shapes(10);
  const size_t plane = dataset.train.images.PlaneSize();
  int grey = 0;
  for (uint32_t epoch = 0; epoch < 200; ++epoch) {
    const auto views = Make(dataset, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {.epoch = epoch}).first;
    for (size_t i = 0; i < 10; ++i) {
      const auto at = views.begin() + static_cast<ptrdiff_t>(3 * i * plane);
      grey += std::equal(at, at + static_cast<ptrdiff_t>(plane), at + static_cast<ptrdiff_t>(plane))
                  ? 1
                  : 0;
    }
  }
  EXPECT_NEAR(grey, 400, 90);  // 2000 x .2, deviation 18
}

TEST(Views, RefuseSigmasOutOfOrder) {
  ExpectError(ExitCode::kUsage, "blur_sigma_min",
              [] { Validate(ViewOptions{.blur_sigma_min = 2, .blur_sigma_max = 1}); });
}

}  // namespace
}  // namespace kindred

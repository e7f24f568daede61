#include "eval/features.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "augment/normalize.h"
#include "eval/feature_cache.h"
#include "eval/linear_moco.h"
#include "eval/score.h"
#include "eval/semi_supervised.h"
#include "model/network.h"
#include "model/resnet.h"
#include "tests/folders.h"

namespace kindred {
namespace {

Encoder TinyEncoder(uint64_t seed = 3) {
  const ModelOptions options = {.arch = "resnet10", .width = 4, .bn_splits = 1};
  ResNet model(options, 3);
  Initialize(*model, seed);
  return {Clone(OwnTensorsOf(*model)), options, {{3, 8, 8}, {{.5f, .4f, .3f}, {.2f, .2f, .3f}}}};
}

// Two classes, dark and bright, with noise.
struct Lamps {
  Images images = {.count = 0, .height = 8, .width = 8};
  std::vector<int> labels;
  Lamps(int count, uint64_t seed) {
    images.count = count;
    Rng rng({.seed = seed, .purpose = Purpose::kShapes});
    for (int i = 0; i < count; ++i) {
      labels.push_back(i % 2);
      for (size_t p = 0; p < images.ImageSize(); ++p) {
        images.pixels.push_back(static_cast<uint8_t>(rng.Below(120) + (i % 2 ? 120 : 0)));
      }
    }
  }
};

TEST(EncodeImages, IsTheModelsOutputWhateverTheWorkers) {
  const Encoder encoder = TinyEncoder();
  const Lamps lamps(600, 1);
  const auto h = EncodeImages(encoder, lamps.images);
  EXPECT_TRUE(torch::equal(h, EncodeImages(encoder, lamps.images, {.workers = 3})));
  ResNet model(encoder.model, 3);
  CopyInto(encoder.tensors, OwnTensorsOf(*model));
  model->eval();
  torch::NoGradGuard no_gradient;
  auto x = torch::empty({1, 3, 8, 8});
  PlainImage(lamps.images, 417, encoder.input.normalization, {x.data_ptr<float>(), 192});
  EXPECT_TRUE(torch::allclose(h[417], model(x)[0], 1e-4, 1e-5));
  EXPECT_NEAR(UnitRows(h)[5].norm().item<double>(), 1, 1e-6);
}

TEST(CachedFeatures, AreComputedOnce) {
  const auto folder = TestFolder();
  const Encoder encoder = TinyEncoder();
  const Lamps lamps(20, 1);
  const auto h = CachedFeatures(folder.path(), encoder, lamps.images);
  ASSERT_EQ(FilesBelow(folder.path()).size(), 1u);
  // Another result in its place is what comes back: so it was read.
  const auto file = folder.path() / *FilesBelow(folder.path()).begin();
  int encoded = 0;
  const EncodeOptions watch = {.pixels = [&](int, std::span<float>) { ++encoded; }};
  EXPECT_TRUE(torch::equal(CachedFeatures(folder.path(), encoder, lamps.images, watch), h));
  EXPECT_EQ(encoded, 0);
  Bytes bytes = ReadFile(file, 1 << 20);
  bytes.back() ^= 1;
  WriteFileAtomically(file, bytes);
  CachedFeatures(folder.path(), encoder, lamps.images, watch);
  EXPECT_EQ(encoded, 20) << "a damaged file is computed again";
}

TEST(CachedFeatures, OtherEncodersAndImagesAreOtherFiles) {
  const auto folder = TestFolder();
  CachedFeatures(folder.path(), TinyEncoder(3), Lamps(20, 1).images);
  CachedFeatures(folder.path(), TinyEncoder(4), Lamps(20, 1).images);
  CachedFeatures(folder.path(), TinyEncoder(3), Lamps(20, 2).images);
  Encoder other = TinyEncoder(3);
  other.input.normalization.mean[0] += 0.1f;
  CachedFeatures(folder.path(), other, Lamps(20, 1).images);
  EXPECT_EQ(FilesBelow(folder.path()).size(), 4u);
  CachedFeatures(folder.path(), TinyEncoder(5), Lamps(20, 1).images, {}, 5000);
  EXPECT_LT(FilesBelow(folder.path()).size(), 4u) << "the oldest go";
}

TEST(LinearMoco, LearnsWhatIsLinearAndIgnoresWorkers) {
  const Encoder encoder = TinyEncoder();
  const Lamps train(300, 1), test(100, 2);
  LinearMocoOptions options = {.epochs = 20, .lr = 2, .batch = 32};
  const auto probe = TrainLinearMoco(encoder, train.images, train.labels, 2, options);
  const auto h = EncodeImages(encoder, test.images);
  EXPECT_GT(ScoreOf(Argmax(Logits(probe, h)), test.labels, 2).accuracy, 0.9);
  options.workers = 2;
  const auto again = TrainLinearMoco(encoder, train.images, train.labels, 2, options);
  EXPECT_TRUE(torch::equal(probe.weight, again.weight));
  options.seed = 1;
  EXPECT_FALSE(torch::equal(
      probe.weight, TrainLinearMoco(encoder, train.images, train.labels, 2, options).weight));
}

TEST(SemiSupervised, TrainsEncoderAndHead) {
  const Encoder encoder = TinyEncoder();
  const Lamps train(64, 1), test(100, 2);
  const SemiOptions options = {.epochs = 10, .trunk_lr = 0.02, .head_lr = 0.5, .batch = 16};
  const auto trained = FinetuneOnLabels(encoder, train.images, train.labels, 2, options);
  EXPECT_GT(ScoreOf(Classify(trained, test.images, 1), test.labels, 2).accuracy, 0.9);
  EXPECT_NE(DigestOf(trained.encoder.tensors), DigestOf(encoder.tensors)) << "the whole model";
  const auto again = FinetuneOnLabels(encoder, train.images, train.labels, 2, options);
  EXPECT_EQ(DigestOf(trained.encoder.tensors), DigestOf(again.encoder.tensors));
}

TEST(SemiSupervised, RatesFollowTheShareOfLabels) {
  EXPECT_EQ(SemiOptionsFor(0.01).trunk_lr, 0.02);
  EXPECT_EQ(SemiOptionsFor(0.01).head_lr, 5);
  EXPECT_EQ(SemiOptionsFor(0.1).trunk_lr, 0.01);
  EXPECT_EQ(SemiOptionsFor(0.1).head_lr, 0.2);
  EXPECT_EQ(SemiOptionsFor(0.02).head_lr, 5);
  EXPECT_EQ(SemiOptionsFor(0.5).head_lr, 0.2);
}

}  // namespace
}  // namespace kindred

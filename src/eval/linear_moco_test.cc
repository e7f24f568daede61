#include "eval/linear_moco.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "eval/features.h"
#include "eval/score.h"
#include "tests/lamps.h"

namespace kindred {
namespace {

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

// Two epochs again in double, gradient by gradient: init .01, momentum .9, no decay, lr x .1 at 60
// % of the epochs, crops and mirror images of each epoch's own stream.
TEST(LinearMoco, IsTheProtocolWrittenOut) {
  const Encoder encoder = TinyEncoder();
  const Lamps lamps(20, 1);
  const LinearMocoOptions options = {.epochs = 5, .lr = 0.5, .batch = 20, .seed = 4};
  const auto probe = TrainLinearMoco(encoder, lamps.images, lamps.labels, 2, options);
  auto weight = torch::empty({2, 32}, torch::kDouble), bias = torch::zeros({2}, torch::kDouble);
  Rng init({.seed = 4, .purpose = Purpose::kInit});
  for (int64_t i = 0; i < 64; ++i) {
    weight.view({64})[i] = static_cast<double>(static_cast<float>(0.01 * init.Normal()));
  }
  auto weight_step = torch::zeros_like(weight), bias_step = torch::zeros_like(bias);
  const ViewRecipe recipe = {CropAndFlip(0.2), encoder.input.normalization};
  for (uint32_t epoch = 0; epoch < 5; ++epoch) {
    const auto h = EncodeImages(encoder, lamps.images,
                                {.pixels =
                                     [&](int i, std::span<float> out) {
                                       Rng rng({.seed = 4,
                                                .purpose = Purpose::kEvalViews,
                                                .epoch = epoch,
                                                .sample = static_cast<uint64_t>(i)});
                                       MakeView(lamps.images, i, recipe, rng, out);
                                     }})
                       .to(torch::kDouble);
    auto error = (torch::mm(h, weight.t()) + bias).softmax(1);
    for (int64_t i = 0; i < 20; ++i) error[i][lamps.labels[static_cast<size_t>(i)]] -= 1;
    weight_step = 0.9 * weight_step + torch::mm(error.t(), h) / 20;
    bias_step = 0.9 * bias_step + error.sum(0) / 20;
    const double lr = epoch < 3 ? 0.5 : epoch < 4 ? 0.05 : 0.005;
    weight -= lr * weight_step;
    bias -= lr * bias_step;
  }
  EXPECT_TRUE(torch::allclose(probe.weight.to(torch::kDouble), weight, 1e-3, 1e-4));
  EXPECT_TRUE(torch::allclose(probe.bias.to(torch::kDouble), bias, 1e-3, 1e-4));
}

}  // namespace
}  // namespace kindred

#include "eval/semi_supervised.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "eval/score.h"
#include "tests/lamps.h"

namespace kindred {
namespace {

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

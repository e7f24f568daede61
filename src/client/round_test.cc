#include "client/round.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "method/ccl.h"
#include "model/network.h"
#include "privacy/mechanism.h"
#include "tests/throws.h"

namespace kindred {
namespace {

// Ten small images, two classes of brightness.
struct RoundClient {
  RoundClient() {
    data.client = 3;
    data.images = {.count = 10, .height = 8, .width = 8};
    for (size_t i = 0; i < 10 * data.images.ImageSize(); ++i) {
      data.images.pixels.push_back(static_cast<uint8_t>((i * 61 + i / 192 * 17) % 256));
    }
    data.secret = SeededSecret(1, 3);
    options.epochs = 2;
    options.batch = 5;
    context = {.model = {.arch = "resnet10", .width = 4, .dim = 16, .bn_splits = 1},
               .method = {.name = "ccl", .tables = {CclOptions{.bank = 8, .neighbors = 2}}},
               .batch = 5};
    plan.lr = 0.05;
    plan.round = 2;
    plan.rounds = 4;
  }
  Outcome Train(const RoundHooks& hooks = {}) {
    const auto method = MakeMethod(context);
    plan.model = Clone(method->Shared());
    local = method->NewLocalState();
    return TrainClient(*method, plan, data, options, local, hooks);
  }
  ClientData data;
  ClientOptions options;
  MethodContext context;
  Plan plan;
  NamedTensors local;
};

TEST(TrainClient, AnUpdateCarriesTheFinalModelsFeaturesOfEncodings) {
  RoundClient client;
  const Outcome outcome = client.Train();
  ASSERT_TRUE(outcome.update.features.rows().defined());
  EXPECT_FALSE(outcome.plain.rows().defined());
  EXPECT_EQ(outcome.update.features.rows().size(0), 8) << "min(K, |D_c|)";
  // The same again with the model that was sent: nothing but encodings went in.
  const auto method = MakeMethod(client.context);
  CopyInto(outcome.update.model, method->Shared());
  const auto again = ShareFeatures({client.data.images, client.options.views.normalization,
                                    client.options.privacy, client.data.secret, 2, 8, 5},
                                   [&](const at::Tensor& x) { return method->FeaturesOf(x); });
  EXPECT_TRUE(torch::equal(again.travelling.rows(), outcome.update.features.rows()));
}

TEST(TrainClient, FeaturesOfTheGlobalEncoderAreThoseOfTheModelThatCame) {
  RoundClient client;
  client.options.features.encoder = "global";
  const Outcome outcome = client.Train();
  const auto method = MakeMethod(client.context);
  CopyInto(client.plan.model, method->Shared());
  const auto received = ShareFeatures({client.data.images, client.options.views.normalization,
                                       client.options.privacy, client.data.secret, 2, 8, 5},
                                      [&](const at::Tensor& x) { return method->FeaturesOf(x); });
  EXPECT_TRUE(torch::equal(received.travelling.rows(), outcome.update.features.rows()));
  EXPECT_TRUE(outcome.update.report.metrics.contains("shared_cosine"));
  EXPECT_TRUE(outcome.update.report.metrics.contains("contrast"));
  // The model is trained as ever.
  RoundClient local;
  EXPECT_EQ(DigestOf(local.Train().update.model), DigestOf(outcome.update.model));
}

TEST(TrainClient, PlainFeaturesStayOutOfTheUpdate) {
  RoundClient client;
  client.options.privacy.features = "plain";
  const Outcome outcome = client.Train();
  EXPECT_FALSE(outcome.update.features.rows().defined());
  EXPECT_EQ(outcome.plain.rows().size(0), 8);
}

TEST(TrainClient, AMethodThatSharesNothingSendsNoFeatures) {
  RoundClient client;
  client.context.method.name = "moco";
  const Outcome outcome = client.Train();
  EXPECT_FALSE(outcome.update.features.rows().defined());
  EXPECT_FALSE(outcome.update.report.metrics.contains("shared_cosine"));
}

TEST(TrainClient, WhatTheObserverSeesStaysOutOfTheUpdate) {
  struct Observer : StepObserver {
    void Step(const Batch& batch, const StepTrace&) override {
      seen += static_cast<int>(batch.samples.size());
    }
    Metrics End() const override { return {{"observed", 1.0 * seen}}; }
    int seen = 0;
  };
  RoundClient client;
  const Outcome outcome = client.Train({.observe = [](int id, const RemoteFeatures&) {
    EXPECT_EQ(id, 3);
    return std::make_unique<Observer>();
  }});
  EXPECT_EQ(outcome.observed.at("observed"), 2 * 10);
  EXPECT_FALSE(outcome.update.report.metrics.contains("observed"));
  EXPECT_EQ(outcome.update.report.steps, 4);
  EXPECT_EQ(outcome.update.report.images, 10);
  // Looking changes nothing.
  RoundClient other;
  EXPECT_EQ(DigestOf(other.Train().update.model), DigestOf(outcome.update.model));
}

// Weights of 0 leave every channel still: its variance is 0, which neither end of the wire takes.
TEST(TrainClient, VariancesOfDeadChannelsStayPositive) {
  RoundClient client;
  client.context.method.name = "moco";
  const auto method = MakeMethod(client.context);
  client.plan.model = Clone(method->Shared());
  for (auto& [name, tensor] : client.plan.model) {
    if (name.ends_with("running_var") || name.ends_with("weight")) tensor.zero_();
  }
  client.plan.lr = 0;
  client.local = method->NewLocalState();
  const Outcome outcome =
      TrainClient(*method, client.plan, client.data, client.options, client.local, {});
  int variances = 0;
  for (const auto& [name, tensor] : outcome.update.model) {
    if (!name.ends_with("running_var")) continue;
    EXPECT_GT(tensor.min().item<float>(), 0) << name;
    ++variances;
  }
  EXPECT_GT(variances, 0);
}

TEST(TrainClient, ALossThatIsNotFiniteIsAUsageError) {
  RoundClient client;
  client.plan.lr = 1e30;
  ExpectError(ExitCode::kUsage, "train.lr", [&] { client.Train(); });
}

TEST(TrainClient, LeavesWhenAskedTo) {
  RoundClient client;
  const std::atomic<bool> stop = true;
  EXPECT_THROW(client.Train({.stop = &stop}), Interrupted);
}

}  // namespace
}  // namespace kindred

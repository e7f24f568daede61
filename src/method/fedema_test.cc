#include "method/fedema.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "method/byol_options.h"
#include "method/fedema_options.h"
#include "model/network.h"
#include "tests/golden_steps.h"

namespace kindred {
namespace {

MethodContext FedemaContext(double tau = 0.7) {
  return {.model = kGoldenModel,
          .method = {.name = "fedema",
                     .tables = {ByolOptions{.momentum = 0.9, .hidden = 24}, FedemaOptions{tau}}},
          .batch = kGoldenBatch};
}

// A model like `like` whose every number is `value`; counters are 3.
NamedTensors FlatModel(const NamedTensors& like, double value) {
  NamedTensors model = Clone(like);
  for (auto& [name, tensor] : model) {
    tensor.fill_(tensor.is_floating_point() ? value : 3.0);
  }
  return model;
}

// Parameters of encoder and projector: what the divergence counts.
int64_t OnlineParameters(const Method& method) {
  int64_t count = 0;
  const NamedTensors predictor = Under(method.Shared(), "predictor");
  for (const auto& tensor : method.Trained()) {
    const bool predicts = std::any_of(predictor.begin(), predictor.end(), [&](const auto& entry) {
      return entry.second.data_ptr() == tensor.data_ptr();
    });
    if (!predicts) count += tensor.numel();
  }
  return count;
}

TEST(OwnShare, GrowsWithTheDivergenceUpToAll) {
  EXPECT_DOUBLE_EQ(OwnShare(0.1, 2), 0.2);
  EXPECT_DOUBLE_EQ(OwnShare(0.1, 10), 1);
  EXPECT_DOUBLE_EQ(OwnShare(0.1, 50), 1);
  EXPECT_DOUBLE_EQ(OwnShare(0.1, 0), 0);
}

TEST(Fedema, MergesByDivergenceWithAScaleFixedAtTheFirstMerge) {
  const auto method = MakeFedema(FedemaContext());
  const NamedTensors shared = method->Shared();
  NamedTensors local = method->NewLocalState();
  const auto round = [&](double global) {
    CopyInto(FlatModel(shared, global), shared);
    method->BeginRound({}, local);
  };
  // The first time there is nothing to merge with.
  round(1);
  EXPECT_EQ(shared.at("encoder/conv1.weight")[0][0][0][0].item<float>(), 1);
  EXPECT_FALSE(method->EndRound(local).contains("own_share"));
  EXPECT_FALSE(local.contains("lambda"));
  // Own 1, global 3: |W_g - W_k| = 2 sqrt(n), mu = tau whatever it is: .7 x 1 + .3 x 3 = 1.6.
  round(3);
  const double length = std::sqrt(static_cast<double>(OnlineParameters(*method)));
  for (const auto& [name, tensor] : shared) {
    const auto value = tensor.to(torch::kDouble).flatten()[0].item<double>();
    EXPECT_NEAR(value, tensor.is_floating_point() ? 1.6 : 3, 1e-6) << name;
  }
  EXPECT_NEAR(local.at("lambda").item<double>(), 0.7 / (2 * length), 1e-6 / length);
  const Metrics metrics = method->EndRound(local);
  EXPECT_NEAR(metrics.at("own_share"), 0.7, 1e-6);
  EXPECT_NEAR(metrics.at("divergence"), 2 * length, 1e-3);
  // Own 1.6, global 2.6: half as far, so mu = .35: .35 x 1.6 + .65 x 2.6 = 2.25.
  round(2.6);
  EXPECT_NEAR(shared.at("predictor/0.bias")[0].item<double>(), 2.25, 1e-5);
  // Own 2.25, global 12.25: mu would be 3.5; the client keeps its own model.
  method->EndRound(local);
  round(12.25);
  EXPECT_NEAR(shared.at("encoder/bn1.bias")[0].item<double>(), 2.25, 1e-5);
  EXPECT_NEAR(method->EndRound(local).at("own_share"), 1, 1e-9);
}

TEST(Fedema, FollowsPlainPyTorchThroughItsFirstMerge) {
  const GoldenDoubles doubles;
  const auto golden = GoldenFile("baselines.json")["fedema"];
  const auto method = MakeFedema(FedemaContext());
  const NamedTensors sent = GoldenWeights(method->Shared());
  CopyInto(sent, method->Shared());
  NamedTensors local = method->NewLocalState();
  TakeGoldenSteps(*method, local, golden);
  method->EndRound(local);
  CopyInto(sent, method->Shared());  // the same model comes back
  ExpectGoldenSteps(*method, local, golden);
}

TEST(Fedema, WithoutASharePastItsOwnItIsByol) {
  // tau = 0: nothing of the own model is kept, which leaves FedBYOL.
  const auto fedema = MakeFedema(FedemaContext(0));
  MethodContext context = FedemaContext();
  context.method.name = "byol";
  const auto byol = MakeMethod(context);
  std::vector<std::string> digests;
  for (Method* method : {fedema.get(), byol.get()}) {
    const NamedTensors shared = method->Shared();
    const NamedTensors weights = GoldenWeights(shared);
    NamedTensors local = method->NewLocalState();
    for (int round = 0; round < 2; ++round) {
      CopyInto(weights, shared);
      method->BeginRound({.round = round}, local);
      torch::optim::SGD sgd(method->Trained(), torch::optim::SGDOptions(0.05));
      sgd.zero_grad();
      method->Loss(GoldenStep(round), local).backward();
      sgd.step();
      method->AfterStep(local);
      method->EndRound(local);
    }
    digests.push_back(DigestOf(shared));
  }
  EXPECT_EQ(digests[0], digests[1]);
}

}  // namespace
}  // namespace kindred

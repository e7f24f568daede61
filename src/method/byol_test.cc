#include "method/byol.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/golden_steps.h"

namespace kindred {
namespace {

MethodContext ByolContext() {
  return {.model = kGoldenModel,
          .method = {.name = "byol", .tables = {ByolOptions{.momentum = 0.9, .hidden = 24}}},
          .batch = kGoldenBatch};
}

TEST(Byol, FollowsPlainPyTorch) {
  const GoldenDoubles doubles;
  const auto golden = GoldenFile("baselines.json")["byol"];
  const auto method = MakeByol(ByolContext());
  CopyInto(GoldenWeights(method->Shared()), method->Shared());
  NamedTensors local = method->NewLocalState();
  ExpectGoldenSteps(*method, local, golden);
  EXPECT_TRUE(local.empty()) << "until the round ends";
  method->EndRound(local);
  ASSERT_EQ(local.size(), golden["target"].size());
  for (const auto& [name, tensor] : Under(local, "target")) {
    ExpectProbes(tensor, golden["target"][name], "target/" + name);
  }
}

TEST(Byol, TheTargetBeginsAsTheModelThatIsSentAndThenStaysWithTheClient) {
  const auto method = MakeByol(ByolContext());
  const NamedTensors sent = GoldenWeights(method->Shared());
  CopyInto(sent, method->Shared());
  NamedTensors local = method->NewLocalState();
  method->BeginRound({}, local);
  method->EndRound(local);
  for (const auto& [name, tensor] : Under(local, "target")) {
    EXPECT_TRUE(torch::equal(tensor, sent.at(name))) << name;
  }
  // Another model is sent; the target is still the old one, and is no part of what is shared.
  const std::string kept = DigestOf(local);
  CopyInto(MakeByol(ByolContext())->Shared(), method->Shared());
  method->BeginRound({.round = 1}, local);
  method->EndRound(local);
  EXPECT_EQ(DigestOf(local), kept);
  EXPECT_TRUE(Under(method->Shared(), "target").empty());
  EXPECT_FALSE(Under(method->Shared(), "predictor").empty());
}

TEST(Byol, PredictorAndProjectorBeginApart) {
  const auto method = MakeByol(ByolContext());
  const NamedTensors shared = method->Shared();
  const auto predictor = shared.at("predictor/3.weight"),
             projector = shared.at("projector/3.weight");
  ASSERT_EQ(predictor.sizes(), projector.sizes());
  EXPECT_FALSE(torch::equal(predictor, projector));
}

}  // namespace
}  // namespace kindred

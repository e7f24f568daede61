#include "method/rotation.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "model/network.h"
#include "tests/golden_steps.h"
#include "tests/throws.h"

namespace kindred {
namespace {

std::unique_ptr<Method> GoldenRotation() {
  auto method =
      MakeRotation({.model = kGoldenModel, .method = {.name = "rotation"}, .batch = kGoldenBatch});
  CopyInto(GoldenWeights(method->Shared()), method->Shared());
  return method;
}

TEST(Rotation, FollowsPlainPyTorch) {
  const GoldenDoubles doubles;
  const auto method = GoldenRotation();
  NamedTensors local = method->NewLocalState();
  ExpectGoldenSteps(*method, local, GoldenFile("baselines.json")["rotation"]);
}

TEST(Rotation, TellsHowOftenItIsRight) {
  const auto method = GoldenRotation();
  NamedTensors local;
  method->BeginRound({}, local);
  torch::optim::SGD sgd(method->Trained(), torch::optim::SGDOptions(0.05).momentum(0.9));
  const Batch batch = GoldenStep(0);
  const auto accuracy = [&] {
    method->BeginRound({}, local);
    sgd.zero_grad();
    method->Loss(batch, local).backward();
    sgd.step();
    return method->EndRound(local);
  };
  const Metrics before = accuracy();
  for (int step = 0; step < 40; ++step) accuracy();
  const Metrics after = accuracy();
  EXPECT_LT(before.at("rotation_accuracy"), 0.6);
  EXPECT_GT(after.at("rotation_accuracy"), 0.9) << "eight images known by heart";
  EXPECT_LT(after.at("loss_over_chance"), before.at("loss_over_chance"));
}

TEST(Rotation, TurnsSquareImagesAlone) {
  MethodContext context = {.model = kGoldenModel, .method = {.name = "rotation"}};
  context.side = 0;
  ExpectError(ExitCode::kUsage, "images must be square", [&] { MakeRotation(context); });
}

}  // namespace
}  // namespace kindred

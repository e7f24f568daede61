#include "method/swav.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "model/network.h"
#include "tests/golden_steps.h"

namespace kindred {
namespace {

std::unique_ptr<Method> GoldenSwav() {
  auto method = MakeSwav({.model = kGoldenModel,
                          .method = {.name = "swav", .tables = {SwavOptions{.prototypes = 12}}},
                          .batch = kGoldenBatch});
  CopyInto(GoldenWeights(method->Shared()), method->Shared());
  return method;
}

TEST(Swav, FollowsPlainPyTorch) {
  const GoldenDoubles doubles;
  const auto method = GoldenSwav();
  NamedTensors local = method->NewLocalState();
  ExpectGoldenSteps(*method, local, GoldenFile("baselines.json")["swav"]);
  const Metrics metrics = method->EndRound(local);
  EXPECT_GE(metrics.at("prototypes_used"), 1);
  EXPECT_LE(metrics.at("prototypes_used"), 12);
  EXPECT_GT(metrics.at("loss_over_chance"), 0);
}

TEST(Swav, PrototypesAreFrozenInTheFirstEpochOfTheRunAlone) {
  for (const auto& [round, epoch, frozen] : std::vector<std::tuple<uint32_t, uint32_t, bool>>{
           {0, 0, true}, {0, 1, false}, {1, 0, false}}) {
    const auto method = GoldenSwav();
    NamedTensors local;
    method->BeginRound({}, local);
    const auto prototypes = method->Shared().at("prototypes/weight");
    const auto before = prototypes.clone();
    torch::optim::SGD sgd(method->Trained(),
                          torch::optim::SGDOptions(0.05).momentum(0.9).weight_decay(5e-4));
    for (int step = 0; step < 2; ++step) {
      Batch batch = GoldenStep(step);
      batch.key.round = round;
      batch.key.epoch = epoch;
      sgd.zero_grad();
      method->Loss(batch, local).backward();
      sgd.step();
      method->AfterStep(local);
    }
    EXPECT_EQ(torch::allclose(prototypes, before, 0, 1e-6), frozen) << round << " " << epoch;
    EXPECT_TRUE(torch::allclose(prototypes.norm(2, 1), torch::ones(12)));
  }
}

TEST(Swav, RowsOfAnAverageAreMadeUnitAgain) {
  const auto method = GoldenSwav();
  NamedTensors local;
  const auto prototypes = method->Shared().at("prototypes/weight");
  prototypes.mul_(0.3);
  method->BeginRound({}, local);
  EXPECT_TRUE(torch::allclose(prototypes.norm(2, 1), torch::ones(12)));
}

}  // namespace
}  // namespace kindred

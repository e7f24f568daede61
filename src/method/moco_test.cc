#include "method/ccl.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "model/network.h"
#include "tests/golden_steps.h"
#include "tests/throws.h"

namespace kindred {
namespace {

MethodContext MocoContext() {
  ModelOptions model = kGoldenModel;
  model.engine = "fast";
  return {
      .model = model,
      .method = {.name = "moco", .tables = {CclOptions{.bank = 20, .tau = 0.1, .momentum = 0.9}}},
      .channels = 3,
      .batch = kGoldenBatch};
}

TEST(Moco, FollowsPlainPyTorchForTenSteps) {
  torch::set_num_threads(1);
  const auto golden = GoldenFile("moco.json");
  const auto method = MakeMoco(MocoContext());
  const NamedTensors shared = method->Shared();
  NamedTensors start;
  AddUnder(start, "q", GoldenWeights(Under(shared, "q")));
  AddUnder(start, "k", GoldenWeights(Under(shared, "q")));
  CopyInto(start, shared);
  NamedTensors local = method->NewLocalState();
  ExpectGoldenSteps(*method, local, golden);
  ExpectProbes(local.at("bank"), golden["bank"], "bank");
  EXPECT_EQ(local.at("bank_count").item<int64_t>(), 10 * kGoldenBatch);
}

TEST(Moco, MomentumModelStartsAsTheMainModelAndIsNotTrained) {
  const auto method = MakeMoco(MocoContext());
  const NamedTensors shared = method->Shared();
  for (const auto& [name, tensor] : Under(shared, "q")) {
    EXPECT_TRUE(torch::equal(tensor, shared.at("k/" + name))) << name;
  }
  EXPECT_EQ(method->Trained().size(),
            40u);  // of q alone: 12 convolutions, 12 norms of 2, a projector
}

TEST(Moco, RefusesABankBelowTheBatch) {
  MethodContext context = MocoContext();
  context.method.Of<CclOptions>().bank = 7;
  ExpectError(ExitCode::kUsage, "ccl.bank = 7 is below train.batch = 8",
              [&] { MakeMoco(context); });
}

}  // namespace
}  // namespace kindred

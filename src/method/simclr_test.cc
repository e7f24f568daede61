#include "method/simclr.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "method/simclr_options.h"
#include "model/network.h"
#include "tests/golden_steps.h"
#include "tests/throws.h"

namespace kindred {
namespace {

MethodContext SimclrContext() {
  return {.model = kGoldenModel,
          .method = {.name = "simclr", .tables = {SimclrOptions{.tau = 0.5}}},
          .batch = kGoldenBatch};
}

TEST(Simclr, FollowsPlainPyTorch) {
  const GoldenDoubles doubles;
  const auto method = MakeSimclr(SimclrContext());
  CopyInto(GoldenWeights(method->Shared()), method->Shared());
  NamedTensors local = method->NewLocalState();
  ExpectGoldenSteps(*method, local, GoldenFile("baselines.json")["simclr"]);
  EXPECT_TRUE(local.empty());
  const Metrics metrics = method->EndRound(local);
  EXPECT_GT(metrics.at("feature_rank"), 1);
}

TEST(Simclr, NeedsTwoImagesInABatch) {
  MethodContext context = SimclrContext();
  context.batch = 1;
  ExpectError(ExitCode::kUsage, "needs at least two", [&] { MakeSimclr(context); });
}

// A client with one image: nothing to contrast with, and statistics of one row that must not reach
// the average as NaN.
TEST(Simclr, OneImageTeachesNothingAndHarmsNothing) {
  const auto method = MakeSimclr(SimclrContext());
  NamedTensors local;
  method->BeginRound({}, local);
  Batch batch = GoldenStep(0);
  batch.first = batch.first.narrow(0, 0, 1);
  batch.second = batch.second.narrow(0, 0, 1);
  const auto loss = method->Loss(batch, local);
  EXPECT_NEAR(loss.item<double>(), 0, 1e-6);
  loss.backward();
  EXPECT_TRUE(AllFinite(method->Shared()));
}

}  // namespace
}  // namespace kindred

#include "method/simsiam.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/golden_steps.h"

namespace kindred {
namespace {

TEST(Simsiam, FollowsPlainPyTorch) {
  const GoldenDoubles doubles;
  const auto method =
      MakeSimsiam({.model = kGoldenModel, .method = {.name = "simsiam"}, .batch = kGoldenBatch});
  CopyInto(GoldenWeights(method->Shared()), method->Shared());
  NamedTensors local = method->NewLocalState();
  ExpectGoldenSteps(*method, local, GoldenFile("baselines.json")["simsiam"]);
  EXPECT_TRUE(local.empty());
}

}  // namespace
}  // namespace kindred

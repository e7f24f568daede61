#include "method/supervised.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "model/network.h"
#include "model/resnet.h"
#include "tests/golden_steps.h"
#include "tests/throws.h"

namespace kindred {
namespace {

const MethodContext kSupervised = {.model = {.arch = "resnet10", .width = 4, .bn_splits = 1},
                                   .method = {.name = "supervised"},
                                   .classes = 3,
                                   .batch = 4};

TEST(Supervised, LossIsTheCrossEntropyOfTheHead) {
  const auto method = MakeMethod(kSupervised);
  torch::manual_seed(1);
  Batch batch;
  batch.first = torch::randn({4, 3, 8, 8});
  batch.labels = torch::tensor({2, 0, 1, 1}, torch::kInt64);
  NamedTensors local;
  const double loss = method->Loss(batch, local).item<double>();
  // The same from the shared tensors: h of a ResNet in training, then logits and logs by loops.
  const NamedTensors shared = MakeMethod(kSupervised)->Shared();
  ResNet encoder(kSupervised.model, 3);
  CopyInto(Under(shared, "encoder"), OwnTensorsOf(*encoder));
  const auto h = encoder(batch.first);
  double expected = 0;
  for (int64_t i = 0; i < 4; ++i) {
    double sum = 0, own = 0;
    for (int64_t c = 0; c < 3; ++c) {
      double logit = shared.at("head/bias")[c].item<double>();
      for (int64_t d = 0; d < h.size(1); ++d) {
        logit += h[i][d].item<double>() * shared.at("head/weight")[c][d].item<double>();
      }
      sum += std::exp(logit);
      if (c == batch.labels[i].item<int64_t>()) own = logit;
    }
    expected += (std::log(sum) - own) / 4;
  }
  EXPECT_NEAR(loss, expected, 1e-5);
}

TEST(Supervised, FollowsPlainPyTorch) {
  const GoldenDoubles doubles;
  MethodContext context = kSupervised;
  context.model = kGoldenModel;
  context.batch = kGoldenBatch;
  const auto method = MakeMethod(context);
  CopyInto(GoldenWeights(method->Shared()), method->Shared());
  NamedTensors local = method->NewLocalState();
  ExpectGoldenSteps(*method, local, GoldenFile("baselines.json")["supervised"]);
}

TEST(Supervised, NeedsClasses) {
  MethodContext context = kSupervised;
  context.classes = 0;
  ExpectError(ExitCode::kUsage, "two classes", [&] { MakeMethod(context); });
}

}  // namespace
}  // namespace kindred

#include "method/deepcluster.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "model/network.h"
#include "tests/golden_steps.h"

namespace kindred {
namespace {

constexpr int kClusterImages = 2 * kGoldenBatch;

MethodContext ClusterContext(int clusters) {
  return {.model = {.arch = "resnet10", .width = 4, .dim = 16, .bn_splits = 1},
          .method = {.name = "deepcluster",
                     .tables = {DeepClusterOptions{.clusters = clusters, .heads = 3}}},
          .batch = kGoldenBatch};
}

// Images step * 8, ..., step * 8 + 7.
Batch ClusterBatch(int step) {
  Batch batch = GoldenStep(step);
  for (int i = 0; i < kGoldenBatch; ++i) batch.samples[static_cast<size_t>(i)] = step * 8 + i;
  return batch;
}

EpochStart ClusterEpoch(uint32_t epoch, int* looks) {
  return {.key = {.seed = 4, .round = 1, .client = 2, .epoch = epoch},
          .images = kClusterImages,
          .each_batch = [looks](const auto& look) {
            for (const int step : {0, 1}) {
              look(ClusterBatch(step));
              ++*looks;
            }
          }};
}

TEST(DeepCluster, MemoryHoldsBothViewsEmbeddingsOfEveryImage) {
  const auto method = MakeDeepCluster(ClusterContext(4));
  NamedTensors local = method->NewLocalState();
  const std::string before = DigestOf(method->Shared());
  int looks = 0;
  method->BeginRound({}, local);
  method->BeginEpoch(ClusterEpoch(0, &looks), local);
  EXPECT_EQ(DigestOf(method->Shared()), before) << "nothing is trained by filling the memory";
  const auto memory = local.at("memory");
  EXPECT_EQ(memory.sizes(), (std::vector<int64_t>{2, kClusterImages, 16}));
  // The same network by hand, in training.
  Network network(ClusterContext(4).model, 3);
  CopyInto(method->Shared(), TensorsOf(*network));
  const auto z = network(torch::cat({GoldenViews(1, 0), GoldenViews(1, 1)}));
  EXPECT_TRUE(torch::allclose(memory[0].narrow(0, 8, 8), z.narrow(0, 0, 8), 1e-4, 1e-5));
  EXPECT_TRUE(torch::allclose(memory[1].narrow(0, 8, 8), z.narrow(0, 8, 8), 1e-4, 1e-5));
  // Steps write what they embed; the next epoch clusters that without another look.
  const auto old = memory.clone();
  torch::optim::SGD sgd(method->Trained(), torch::optim::SGDOptions(0.5));
  for (int step = 0; step < 2; ++step) {
    sgd.zero_grad();
    method->Loss(ClusterBatch(0), local).backward();
    sgd.step();
    method->AfterStep(local);
  }
  EXPECT_FALSE(torch::allclose(memory.narrow(1, 0, 8), old.narrow(1, 0, 8), 1e-3, 1e-3));
  EXPECT_TRUE(torch::equal(memory.narrow(1, 8, 8), old.narrow(1, 8, 8)));
  method->BeginEpoch(ClusterEpoch(1, &looks), local);
  EXPECT_EQ(looks, 2);
  method->EndRound(local);
  EXPECT_TRUE(local.empty()) << "another model comes: its embeddings are others";
}

TEST(DeepCluster, TheLossIsTheCrossEntropyOfTheClustersOfEachHead) {
  // As many clusters as images: k-means leaves each row of the clustered view a cluster of its own,
  // so head 0 and 2 (first views) and head 1 (second views) have the memory's rows as centroids.
  const auto method = MakeDeepCluster(ClusterContext(kClusterImages));
  NamedTensors local = method->NewLocalState();
  int looks = 0;
  method->BeginRound({}, local);
  method->BeginEpoch(ClusterEpoch(0, &looks), local);
  const auto memory = local.at("memory");
  const auto z = torch::cat({memory[0].narrow(0, 0, 8), memory[1].narrow(0, 0, 8)});
  double expected = 0;
  for (const int view : {0, 1, 0}) {
    for (int64_t row = 0; row < 16; ++row) {
      const auto logits = torch::mv(memory[view], z[row]).to(torch::kDouble) / 0.1;
      expected += (torch::logsumexp(logits, 0) - logits[row % 8]).item<double>() / (3 * 16);
    }
  }
  EXPECT_NEAR(method->Loss(ClusterBatch(0), local).item<double>(), expected, 1e-3 * expected);
  const Metrics metrics = method->EndRound(local);
  EXPECT_EQ(metrics.at("empty_clusters"), 0);
  EXPECT_NEAR(metrics.at("loss_over_chance"), expected / std::log(16.0), 1e-3 * expected);
}

TEST(DeepCluster, AClientWithFewerImagesThanClustersHasOneAnImage) {
  const auto method = MakeDeepCluster(ClusterContext(1000));
  NamedTensors local = method->NewLocalState();
  int looks = 0;
  method->BeginRound({}, local);
  method->BeginEpoch(ClusterEpoch(0, &looks), local);
  EXPECT_TRUE(std::isfinite(method->Loss(ClusterBatch(0), local).item<double>()));
}

}  // namespace
}  // namespace kindred

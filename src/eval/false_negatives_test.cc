#include "eval/false_negatives.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "privacy/instahide.h"

namespace kindred {
namespace {

// shares[i][y] = 1/m for the m classes of client i, from first[i] on.
std::vector<std::vector<double>> SharesFrom(const std::vector<int>& first, int m, int classes) {
  std::vector<std::vector<double>> shares;
  for (const int from : first) {
    shares.emplace_back(static_cast<size_t>(classes));
    for (int y = from; y < from + m; ++y) {
      shares.back()[static_cast<size_t>(y % classes)] = 1.0 / m;
    }
  }
  return shares;
}

TEST(PredictedFalseNegatives, IsThePapersEquation4And5) {
  // Five clients with two of ten classes each, 100 rows of everyone: 1/m alone, 1/(m C) together,
  // and none without one's own.
  const auto disjoint = SharesFrom({0, 2, 4, 6, 8}, 2, 10);
  EXPECT_DOUBLE_EQ(PredictedFalseNegatives(disjoint, 1, 100, {0, 0, 0, 0, 0}), 0.5);
  EXPECT_DOUBLE_EQ(PredictedFalseNegatives(disjoint, 1, 100, {100, 0, 100, 100, 100}), 0.1);
  EXPECT_DOUBLE_EQ(PredictedFalseNegatives(disjoint, 1, 0, {100, 0, 100, 100, 100}), 0.0);
  // Everyone has every class: 1/m whatever the negatives.
  const auto equal = SharesFrom({0, 0, 0}, 4, 4);
  EXPECT_DOUBLE_EQ(PredictedFalseNegatives(equal, 0, 50, {0, 30, 20}), 0.25);
  EXPECT_DOUBLE_EQ(PredictedFalseNegatives(equal, 0, 0, {0, 30, 20}), 0.25);
  // Classes {0, 1} beside {1, 2} and {3, 4}: a query of class 1 meets its class at one other.
  // (1/2) (100/2 / 300) + (1/2) ((100/2 + 100/2) / 300) = 1/12 + 1/6.
  const auto overlapping = SharesFrom({0, 1, 3}, 2, 5);
  EXPECT_DOUBLE_EQ(PredictedFalseNegatives(overlapping, 0, 100, {0, 100, 100}), 1.0 / 4);
  EXPECT_DOUBLE_EQ(PredictedFalseNegatives(overlapping, 0, 0, {0, 100, 100}), 1.0 / 8);
  EXPECT_EQ(PredictedFalseNegatives(disjoint, 0, 0, {0, 0, 0, 0, 0}), 0);
}

// Two clients: the first has images of classes 0, 0, 1, 1, the other of 1, 1, 1, 2.
struct TwoClients {
  TwoClients() {
    split.labels = {0, 0, 1, 1, 1, 1, 1, 2};
    split.images.count = 8;
    partition.clients = {{0, 1, 2, 3}, {4, 5, 6, 7}};
  }
  Split split;
  Partition partition;
};

at::Tensor Places(std::vector<int64_t> values) { return torch::tensor(values, torch::kInt64); }

TEST(FalseNegatives, CountsAnEncodingByItsWeightInTheQuerysClass) {
  const TwoClients two;
  FalseNegatives observers({.data = two.split,
                            .partition = two.partition,
                            .classes = 3,
                            .privacy = {.mix = 4},
                            .shared = 4,
                            .seed = 9});
  RemoteFeatures remote;
  for (int row = 0; row < 4; ++row) remote.origins.push_back({1, 6, row});
  remote.rows = torch::zeros({4, 2});
  const auto observer = observers.Observe(0, remote);
  // Queries of classes 1 and 0; own keys of samples 2 (class 1) and 0 (class 0). Each encoding of
  // client 1 mixes all of its images: class 1 has all of its weight but that of image 3.
  double mass = 0;
  for (const Mix& mix : DrawMixes(4, 4, 4, SeededSecret(9, 1), 6)) {
    for (size_t i = 0; i < 4; ++i) mass += mix.images[i] == 3 ? 0 : mix.weights[i];
  }
  StepTrace trace = {.local = true, .remote = true, .bank_samples = Places({2, 0})};
  // Neighbours of the first query: its own bank's first row (row 4 of the union) and the second
  // (5): one of its class; of the second query: both encodings, nothing of its class.
  trace.candidates = Places({0, 1, 4, 5});
  trace.neighbors = Places({2, 3, 0, 1}).view({2, 2});
  Batch batch;
  batch.samples = {3, 1};
  observer->Step(batch, trace);
  const Metrics metrics = observer->End();
  EXPECT_NEAR(metrics.at("false_negatives"), ((1 + mass) / 6 + 1.0 / 6) / 2, 1e-12);
  EXPECT_DOUBLE_EQ(metrics.at("neighbors_same_class"), 1.0 / 4);
  // Half of its images are of class 0: 2 x 1/2 of 6; half of class 1: (2 x 1/2 + 4 x 3/4) of 6.
  EXPECT_NEAR(metrics.at("false_negatives_predicted"), 0.5 * (1.0 / 6) + 0.5 * (4.0 / 6), 1e-12);
}

TEST(FalseNegatives, LeavesOutAQuerysOwnKeysAndCountsRemoteOnesByTheirWeight) {
  const TwoClients two;
  FalseNegatives observers({.data = two.split,
                            .partition = two.partition,
                            .classes = 3,
                            .privacy = {.features = "plain"},
                            .shared = 4});
  RemoteFeatures remote;
  for (int row = 0; row < 4; ++row) remote.origins.push_back({1, 0, row});
  const auto observer = observers.Observe(0, remote);
  Batch batch;
  batch.samples = {2};  // of class 1, as image 3 and three of the four remote ones
  observer->Step(
      batch,
      {.local = true, .remote = true, .remote_weight = 0.5, .bank_samples = Places({2, 3, 0, 2})});
  EXPECT_DOUBLE_EQ(observer->End().at("false_negatives"), (1 + 0.5 * 3) / (2 + 0.5 * 4));
  // Half of its images are of class 0: 4 x 1/2 of 6; half of class 1: (4 x 1/2 + 2 x 3/4) of 6.
  EXPECT_DOUBLE_EQ(observer->End().at("false_negatives_predicted"),
                   0.5 * (2.0 / 6) + 0.5 * (3.5 / 6));
}

TEST(FalseNegatives, APlainFeatureIsOfItsImagesClass) {
  const TwoClients two;
  FalseNegatives observers({.data = two.split,
                            .partition = two.partition,
                            .classes = 3,
                            .privacy = {.features = "plain"},
                            .shared = 4});
  RemoteFeatures remote;
  for (int row = 0; row < 4; ++row) remote.origins.push_back({1, 0, row});
  const auto observer = observers.Observe(0, remote);
  Batch batch;
  batch.samples = {2};
  observer->Step(batch, {.remote = true, .bank_samples = Places({0})});
  EXPECT_DOUBLE_EQ(observer->End().at("false_negatives"), 3.0 / 4);
}

TEST(FalseNegatives, NothingIsSaidOfNoNegatives) {
  const TwoClients two;
  FalseNegatives observers(
      {.data = two.split, .partition = two.partition, .classes = 3, .shared = 4});
  const auto observer = observers.Observe(0, {});
  Batch batch;
  batch.samples = {2};
  observer->Step(batch, {.local = true, .bank_samples = torch::zeros({0}, torch::kInt64)});
  EXPECT_TRUE(observer->End().empty());
}

}  // namespace
}  // namespace kindred

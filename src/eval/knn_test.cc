#include "eval/knn.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "eval/score.h"

namespace kindred {
namespace {

torch::Tensor KnnRows(int64_t rows, int64_t dim, int seed) {
  torch::manual_seed(seed);
  return torch::nn::functional::normalize(torch::randn({rows, dim}));
}

std::vector<int> KnnLabels(int64_t count, int classes, int shift = 0) {
  std::vector<int> labels;
  for (int64_t i = 0; i < count; ++i) labels.push_back(static_cast<int>(i * 7 + shift) % classes);
  return labels;
}

double KnnAccuracy(const torch::Tensor& train, const std::vector<int>& train_labels,
                   const torch::Tensor& test, const std::vector<int>& test_labels, int classes,
                   const KnnOptions& options = {}) {
  return ScoreOf(KnnPredict(train, train_labels, test, classes, options), test_labels, classes)
      .accuracy;
}

// Sort all neighbours, let the first k vote: a loop a step.
double KnnByLoops(const torch::Tensor& train, const std::vector<int>& train_labels,
                  const torch::Tensor& test, const std::vector<int>& test_labels, int classes,
                  const KnnOptions& options) {
  int right = 0;
  for (int64_t i = 0; i < test.size(0); ++i) {
    std::vector<std::pair<double, int>> neighbours;
    for (int64_t j = 0; j < train.size(0); ++j) {
      double cosine = 0;
      for (int64_t d = 0; d < test.size(1); ++d) {
        cosine += static_cast<double>(test.data_ptr<float>()[i * test.size(1) + d]) *
                  static_cast<double>(train.data_ptr<float>()[j * test.size(1) + d]);
      }
      neighbours.emplace_back(-cosine, train_labels[static_cast<size_t>(j)]);
    }
    std::sort(neighbours.begin(), neighbours.end());
    std::vector<double> votes(static_cast<size_t>(classes), 0.0);
    for (size_t j = 0; j < neighbours.size() && j < static_cast<size_t>(options.k); ++j) {
      votes[static_cast<size_t>(neighbours[j].second)] +=
          std::exp(-neighbours[j].first / options.t);
    }
    const auto winner = std::max_element(votes.begin(), votes.end()) - votes.begin();
    right += winner == test_labels[static_cast<size_t>(i)] ? 1 : 0;
  }
  return static_cast<double>(right) / static_cast<double>(test.size(0));
}

TEST(Knn, IsTheVoteWrittenOut) {
  for (const int64_t dim : {2, 8}) {
    const auto train = KnnRows(60, dim, 1), test = KnnRows(40, dim, 2);
    for (const int classes : {2, 5}) {
      const auto train_labels = KnnLabels(60, classes), test_labels = KnnLabels(40, classes, 3);
      for (const int k : {1, 2, 5, 60}) {
        for (const double t : {0.05, 0.1, 1.0}) {
          const KnnOptions options{.k = k, .t = t};
          EXPECT_DOUBLE_EQ(KnnAccuracy(train, train_labels, test, test_labels, classes, options),
                           KnnByLoops(train, train_labels, test, test_labels, classes, options))
              << dim << " " << classes << " " << k << " " << t;
        }
      }
    }
  }
}

TEST(Knn, NeighboursVoteByTheirCosine) {
  // The query (1, 0) has cosines 0.96 to one row of class 1 and 0.8, 0.8 to two of class 0.
  const auto train = torch::tensor({{0.8f, 0.6f}, {0.8f, -0.6f}, {0.96f, 0.28f}});
  const auto test = torch::tensor({{1.0f, 0.0f}});
  const std::vector<int> labels = {0, 0, 1}, wanted = {1};
  const auto accuracy = [&](int k, double t) {
    return KnnAccuracy(train, labels, test, wanted, 2, {.k = k, .t = t});
  };
  EXPECT_EQ(accuracy(1, 1), 1);
  // t = 1: e^0.96 = 2.61 against 2 e^0.8 = 4.45. t = 0.1: e^9.6 = 14765 against 2 e^8 = 5962.
  EXPECT_EQ(accuracy(3, 1), 0);
  EXPECT_EQ(accuracy(3, 0.1), 1);
}

TEST(Knn, SeparateClassesArePerfectAndSwappedOnesHopeless) {
  // Classes 0, 1, 2 around the axes of space.
  torch::manual_seed(4);
  const auto labels = KnnLabels(90, 3), queries = KnnLabels(30, 3);
  const auto around = [](const std::vector<int>& classes) {
    auto rows = 0.1 * torch::randn({static_cast<int64_t>(classes.size()), 3});
    for (size_t i = 0; i < classes.size(); ++i) rows[static_cast<int64_t>(i)][classes[i]] += 1;
    return torch::nn::functional::normalize(rows);
  };
  const auto train = around(labels), test = around(queries);
  EXPECT_EQ(KnnAccuracy(train, labels, test, queries, 3, {.k = 10}), 1);
  auto swapped = queries;
  for (int& label : swapped) label = (label + 1) % 3;
  EXPECT_EQ(KnnAccuracy(train, labels, test, swapped, 3, {.k = 10}), 0);
}

TEST(Knn, FeaturesThatSayNothingAreChance) {
  // 1000 queries, 4 classes: 0.25 with deviation sqrt(0.25 x 0.75 / 1000) = 0.014.
  const auto train = KnnRows(400, 8, 5), test = KnnRows(1000, 8, 6);
  const double accuracy =
      KnnAccuracy(train, KnnLabels(400, 4), test, KnnLabels(1000, 4, 1), 4, {.k = 20});
  EXPECT_NEAR(accuracy, 0.25, 5 * 0.014);
}

TEST(Knn, MoreNeighboursThanThereAreAreAllOfThem) {
  const auto train = KnnRows(30, 4, 1), test = KnnRows(20, 4, 2);
  const auto labels = KnnLabels(30, 3), queries = KnnLabels(20, 3, 1);
  EXPECT_EQ(KnnAccuracy(train, labels, test, queries, 3, {.k = 1000}),
            KnnAccuracy(train, labels, test, queries, 3, {.k = 30}));
  const auto one = torch::tensor({{1.0f, 0.0f}});
  EXPECT_EQ(KnnAccuracy(one, std::vector<int>{2}, one, std::vector<int>{2}, 3), 1);
}

TEST(Knn, TiesGoToTheLowerClass) {
  const auto train = torch::tensor({{1.0f, 0.0f}, {1.0f, 0.0f}});
  const auto test = torch::tensor({{1.0f, 0.0f}});
  for (const auto& labels : std::vector<std::vector<int>>{{1, 3}, {3, 1}}) {
    EXPECT_EQ(KnnAccuracy(train, labels, test, std::vector<int>{1}, 4, {.k = 2}), 1);
  }
}

TEST(Knn, ManyQueriesAreCountedEachOnce) {
  // More than are taken at a time: a query is its own nearest row; every third label is wrong.
  const auto rows = KnnRows(1201, 16, 7);
  const auto labels = KnnLabels(1201, 5);
  auto wanted = labels;
  for (size_t i = 0; i < wanted.size(); i += 3) wanted[i] = (wanted[i] + 1) % 5;
  EXPECT_DOUBLE_EQ(KnnAccuracy(rows, labels, rows, wanted, 5, {.k = 1}), 800.0 / 1201);
}

// eval.t goes down to 0.001, where exp(cosine / t) is e^1000: more than a double holds.
TEST(Knn, SmallTemperaturesStillWeighVotes) {
  // Cosines 1 and 0.96 to rows of class 1 and 0: class 1 wins by e^40.
  const auto train = torch::tensor({{0.96f, 0.28f}, {1.0f, 0.0f}});
  const auto test = torch::tensor({{1.0f, 0.0f}});
  const std::vector<int> labels = {0, 1}, wanted = {1};
  EXPECT_EQ(KnnAccuracy(train, labels, test, wanted, 2, {.k = 2, .t = 0.001}), 1);
}

TEST(Knn, WorkersDoNotChangeAPrediction) {
  const auto train = KnnRows(300, 16, 8), test = KnnRows(1100, 16, 9);
  const auto labels = KnnLabels(300, 4);
  EXPECT_EQ(KnnPredict(train, labels, test, 4, {.k = 9}),
            KnnPredict(train, labels, test, 4, {.k = 9, .workers = 3}));
}

}  // namespace
}  // namespace kindred

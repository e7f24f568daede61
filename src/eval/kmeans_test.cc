#include "eval/kmeans.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <set>

namespace kindred {
namespace {

TEST(KMeansClusters, FindsSeparateGroupsAndIsAFunctionOfItsSeed) {
  torch::manual_seed(3);
  auto rows = 0.05 * torch::randn({90, 3});
  for (int64_t i = 0; i < 90; ++i) rows[i][i % 3] += 1;
  rows = torch::nn::functional::normalize(rows);
  const auto clusters = KMeansClusters(rows, 3, 1);
  EXPECT_EQ(clusters, KMeansClusters(rows, 3, 1));
  EXPECT_EQ(std::set<int>(clusters.begin(), clusters.end()), (std::set<int>{0, 1, 2}));
  for (size_t i = 3; i < clusters.size(); ++i) EXPECT_EQ(clusters[i], clusters[i % 3]);
  EXPECT_EQ(KMeansClusters(rows.narrow(0, 0, 1), 1, 1), std::vector<int>{0});
}

}  // namespace
}  // namespace kindred

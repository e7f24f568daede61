#include "loss/spherical_kmeans.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/golden_steps.h"

namespace kindred {
namespace {

TEST(SphericalKMeans, FindsClustersThatLieApart) {
  // Points around the three axes; one start near each.
  torch::manual_seed(2);
  const auto axes = torch::eye(3);
  const auto rows = torch::nn::functional::normalize(axes.repeat_interleave(20, 0) +
                                                     0.05 * torch::randn({60, 3}));
  const auto start = torch::nn::functional::normalize(axes + 0.3);
  const SphericalClusters found = SphericalKMeans(rows, start, 10);
  EXPECT_TRUE(torch::equal(found.nearest, torch::arange(3).repeat_interleave(20)));
  EXPECT_EQ(found.empty, 0);
  EXPECT_TRUE(torch::allclose(found.centroids, axes, 0, 0.05));
}

TEST(SphericalKMeans, ACentroidWithoutRowsStaysWhereItIs) {
  const auto rows = torch::tensor({{1.0f, 0.0f}, {0.0f, 1.0f}});
  const auto start = torch::tensor({{1.0f, 0.0f}, {0.6f, 0.8f}, {-1.0f, 0.0f}});
  const SphericalClusters found = SphericalKMeans(rows, start, 5);
  EXPECT_EQ(found.empty, 1);
  EXPECT_TRUE(torch::equal(found.centroids[2], start[2]));
  EXPECT_TRUE(torch::allclose(found.centroids[1], rows[1]));
  EXPECT_TRUE(torch::equal(found.nearest, torch::tensor({0, 1}, torch::kInt64)));
}

TEST(SphericalKMeans, EqualCentroidsGiveWayToTheFirst) {
  const auto row = torch::nn::functional::normalize(torch::ones({4, 3}));
  const SphericalClusters found = SphericalKMeans(row, row, 3);
  EXPECT_TRUE(torch::equal(found.nearest, torch::zeros(4, torch::kInt64)));
  EXPECT_EQ(found.empty, 3);
  EXPECT_TRUE(torch::allclose(found.centroids, row));
}

TEST(SphericalKMeans, IsPyTorchsAfterTenIterations) {
  const auto rows = GoldenRows(30, 3, 0.4);
  const auto start = rows.index_select(0, torch::tensor({2, 11, 17, 23}, torch::kInt64));
  const SphericalClusters found = SphericalKMeans(rows, start, 10);
  const auto golden = GoldenFile("losses.json")["spherical_kmeans"];
  EXPECT_TRUE(
      torch::allclose(found.centroids, GoldenTensor(golden["centroids"], {4, 3}), 1e-9, 1e-12));
  EXPECT_EQ(std::vector<int64_t>(found.nearest.data_ptr<int64_t>(),
                                 found.nearest.data_ptr<int64_t>() + 30),
            golden["nearest"].get<std::vector<int64_t>>());
}

}  // namespace
}  // namespace kindred

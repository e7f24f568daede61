#include "privacy/shared_features.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

namespace kindred {
namespace {

// What can leave a client cannot be made from rows, plain features least of all.
static_assert(!std::is_constructible_v<ProtectedFeatures, at::Tensor>);
static_assert(!std::is_constructible_v<ProtectedFeatures, PlainFeatures>);
static_assert(!std::is_convertible_v<PlainFeatures, ProtectedFeatures>);

TEST(CheckFeatures, NamesWhatIsWrong) {
  torch::manual_seed(1);
  const auto good = torch::nn::functional::normalize(torch::randn({5, 8}));
  EXPECT_FALSE(CheckFeatures(good, 8, 5));
  EXPECT_FALSE(CheckFeatures(torch::empty({0, 8}), 8, 5));
  EXPECT_EQ(CheckFeatures(good, 9, 5), "8 wide, not 9");
  EXPECT_EQ(CheckFeatures(good, 8, 4), "5 rows, at most 4");
  EXPECT_EQ(CheckFeatures(at::Tensor(), 8, 5), "not a matrix of floats");
  EXPECT_EQ(CheckFeatures(good.to(torch::kDouble), 8, 5), "not a matrix of floats");
  EXPECT_EQ(CheckFeatures(good.flatten(), 8, 5), "not a matrix of floats");
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    auto rows = good.clone();
    rows[3][2] = bad;
    EXPECT_EQ(CheckFeatures(rows, 8, 5), "not finite");
  }
  auto rows = good.clone();
  rows[1] *= 1.01;
  EXPECT_EQ(CheckFeatures(rows, 8, 5), "rows not of length 1");
  EXPECT_FALSE(CheckFeatures(rows, 8, 5, /*unit_rows=*/false));
  rows[1].zero_();
  EXPECT_EQ(CheckFeatures(rows, 8, 5), "rows not of length 1");
}

}  // namespace
}  // namespace kindred

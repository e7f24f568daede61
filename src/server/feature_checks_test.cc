#include "server/feature_checks.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "base/rng.h"

namespace kindred {
namespace {

// Unit rows around a common direction: spread 0 is one point.
at::Tensor CheckedRows(int64_t count, uint64_t seed, double spread = 1) {
  Rng rng({.seed = seed, .purpose = Purpose::kInit});
  auto rows = torch::empty({count, 16});
  for (int64_t i = 0; i < rows.numel(); ++i) {
    rows.data_ptr<float>()[i] = static_cast<float>(0.25 + spread * rng.Uniform(-1, 1));
  }
  return rows / rows.norm(2, 1, true);
}

std::string WhyOf(const at::Tensor& rows, const std::vector<at::Tensor>& others = {}) {
  std::map<int, at::Tensor> shared = {{0, CheckedRows(50, 99)}};
  if (rows.size(0) > 0) shared[0] = torch::cat({shared[0], rows});  // its own, of the round before
  for (size_t i = 0; i < others.size(); ++i) shared[static_cast<int>(i) + 1] = others[i];
  return CheckOwnFeatures(rows, 0, OrderedRows(shared)).value_or("");
}

TEST(CheckOwnFeatures, HonestRowsPass) {
  const std::vector<at::Tensor> others = {CheckedRows(300, 1), CheckedRows(200, 2)};
  for (const int64_t count : {0, 1, 2, 8, 256}) {
    EXPECT_EQ(WhyOf(CheckedRows(count, 3), others), "") << count;
  }
  // Nearly collapsed ones, too: cosines of about .999.
  EXPECT_EQ(WhyOf(CheckedRows(100, 3, 0.01), {CheckedRows(100, 4, 0.01)}), "");
}

TEST(CheckOwnFeatures, RowsThatAreTheSame) {
  EXPECT_NE(WhyOf(CheckedRows(1, 5).repeat({100, 1})).find("nearly another one"),
            std::string::npos);
  // 51 of 100 are copies of one another, with noise below the float's care.
  auto rows = CheckedRows(100, 6);
  for (int64_t i = 0; i < 51; ++i) rows[i] = rows[0] + 1e-5 * (rows[i] - rows[0]);
  EXPECT_NE(WhyOf(rows).find("51 of 100 rows"), std::string::npos);
  // As many as half may be.
  rows = CheckedRows(100, 6);
  for (int64_t i = 0; i < 50; ++i) rows[i] = rows[0];
  EXPECT_EQ(WhyOf(rows), "");
  // Few rows say nothing.
  EXPECT_EQ(WhyOf(CheckedRows(1, 5).repeat({7, 1})), "");
}

TEST(CheckOwnFeatures, RowsOnOneLine) {
  EXPECT_NE(WhyOf(CheckedRows(100, 7, 1e-3)).find("effective rank 1.000"), std::string::npos);
  // A point and its opposite, each a little blurred.
  auto rows = CheckedRows(100, 7, 1e-3);
  for (int64_t i = 0; i < 50; ++i) rows[i] = -rows[i];
  EXPECT_NE(WhyOf(rows).find("one line"), std::string::npos);
}

TEST(CheckOwnFeatures, RowsOfOtherClients) {
  const std::vector<at::Tensor> others = {CheckedRows(300, 1), CheckedRows(200, 2)};
  EXPECT_EQ(WhyOf(others[1], others), "a row is copied from another client's");
  // One row, bit for bit.
  auto rows = CheckedRows(100, 3);
  rows[57] = others[0][123];
  EXPECT_EQ(WhyOf(rows, others), "a row is copied from another client's");
  EXPECT_EQ(WhyOf(others[1][3].unsqueeze(0), others), "a row is copied from another client's");
  // Changed a little, all of them.
  rows = others[0] + 1e-4 * torch::ones_like(others[0]);
  rows = rows / rows.norm(2, 1, true);
  EXPECT_NE(WhyOf(rows, others).find("300 of 300 rows are nearly another client's"),
            std::string::npos);
  EXPECT_EQ(WhyOf(rows, {others[1]}), "") << "there is nothing to copy from";
}

// The order is by a few columns of a few rows; what is found does not depend on it.
TEST(OrderedRows, TheLeastGapIsThatOfAllPairs) {
  constexpr float kNear = 0.3f;
  const std::map<int, at::Tensor> parts = {{3, CheckedRows(70, 1)},
                                           {5, CheckedRows(1, 2)},
                                           {9, CheckedRows(40, 3, 0.05)},
                                           {11, CheckedRows(40, 4, 0.05)}};
  const OrderedRows ordered(parts);
  EXPECT_EQ(ordered.rows().size(), 151u);
  int near = 0;
  for (const auto& [client, rows] : parts) {
    for (int64_t i = 0; i < rows.size(0); ++i) {
      float least = INFINITY;
      for (const auto& [other, their] : parts) {
        if (other == client) continue;
        least = std::min(least, (their - rows[i]).square().sum(1).min().item<float>());
      }
      const float found =
          ordered.LeastGap(ordered.Place(rows.data_ptr<float>() + i * rows.size(1), client), kNear);
      if (least > kNear * kNear) {
        EXPECT_GT(found, kNear * kNear);
      } else {
        EXPECT_NEAR(found, least, 1e-6);
        ++near;
      }
    }
  }
  EXPECT_GT(near, 0);
  EXPECT_EQ(OrderedRows().LeastGap({}, kNear), INFINITY);
}

// All near each other in the columns that they are ordered by, and far in the others.
at::Tensor CraftedRows(int64_t count) {
  auto rows = torch::zeros({count, 64});
  for (int64_t i = 0; i < count; ++i) rows[i][4 + i % 60] = (i / 60) % 2 == 0 ? 1 : -1;
  rows.slice(1, 0, 4) += 0.5;  // no variance: but ties are broken by the order of columns
  return rows / rows.norm(2, 1, true);
}

TEST(OrderedRows, CraftedRowsCostNoMorePerRowAndCopiesAreStillFound) {
  const auto crafted = CraftedRows(6000);
  const OrderedRows shared({{0, crafted}});
  for (const int64_t place : {0, 2999, 5999}) {
    const auto own = shared.Place(crafted.data_ptr<float>() + place * 64, 1);
    int64_t compared = 0;
    shared.LeastGap(own, 1e-3f, &compared);
    EXPECT_LE(compared, 2048);
    EXPECT_TRUE(shared.HasCopy(own));
    EXPECT_FALSE(shared.HasCopy(shared.Place(crafted.data_ptr<float>() + place * 64, 0)));
  }
}

}  // namespace
}  // namespace kindred

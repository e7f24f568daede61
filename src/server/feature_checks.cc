#include "server/feature_checks.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "model/feature_spread.h"

namespace kindred {
namespace {

constexpr float kNear = 1e-3f;      // a distance
constexpr int64_t kEnough = 8;      // rows, to say that they are too much alike
constexpr double kOneLine = 1.001;  // an effective rank

constexpr size_t kColumns = 4;
using Columns = std::array<int64_t, kColumns>;

// A row and its values in a few columns, side by side so that most rows need not be looked up.
struct Placed {
  std::array<float, kColumns> at = {};
  const float* row = nullptr;
};

// The widest columns tell rows apart best.
Columns WidestColumns(const at::Tensor& rows) {
  Columns columns = {};
  if (rows.size(0) < 2) return columns;
  const auto order = rows.var(0).argsort(/*dim=*/0, /*descending=*/true);
  for (size_t i = 0; i < kColumns; ++i) {
    columns[i] = order[static_cast<int64_t>(i) % order.size(0)].item<int64_t>();
  }
  return columns;
}

// All rows in the order of the first column. Rows that are near each other are near in every
// column.
std::vector<Placed> InOrder(const std::vector<at::Tensor>& parts, const Columns& columns) {
  std::vector<Placed> placed;
  for (const auto& rows : parts) {
    for (int64_t i = 0; i < rows.size(0); ++i) {
      const float* row = rows.data_ptr<float>() + i * rows.size(1);
      Placed& each = placed.emplace_back();
      each.row = row;
      for (size_t c = 0; c < kColumns; ++c) each.at[c] = row[columns[c]];
    }
  }
  std::sort(placed.begin(), placed.end(),
            [](const Placed& a, const Placed& b) { return a.at[0] < b.at[0]; });
  return placed;
}

// |a - b|^2; anything above the limit when it is above.
float SquaredGap(const Placed& a, const Placed& b, int64_t width) {
  constexpr int64_t kAtATime = 16;
  float sum = 0;
  for (size_t c = 1; c < kColumns; ++c) sum = std::max(sum, std::abs(a.at[c] - b.at[c]));
  if (sum > kNear) return std::numeric_limits<float>::infinity();
  sum = 0;
  for (int64_t start = 0; start < width && sum <= kNear * kNear; start += kAtATime) {
    for (int64_t i = start; i < std::min(width, start + kAtATime); ++i) {
      sum += (a.row[i] - b.row[i]) * (a.row[i] - b.row[i]);
    }
  }
  return sum;
}

int64_t CountAlike(const std::vector<Placed>& own, int64_t width) {
  const auto alike = [&](size_t i, size_t j) {
    return SquaredGap(own[i], own[j], width) <= kNear * kNear;
  };
  int64_t count = 0;
  for (size_t i = 0; i < own.size(); ++i) {
    bool found = false;
    for (size_t j = i + 1; !found && j < own.size() && own[j].at[0] - own[i].at[0] <= kNear; ++j) {
      found = alike(i, j);
    }
    for (size_t j = i; !found && j > 0 && own[i].at[0] - own[j - 1].at[0] <= kNear; --j) {
      found = alike(i, j - 1);
    }
    count += found;
  }
  return count;
}

// The least |row - other|^2 over the others that are near, or something above the limit.
float LeastGap(const Placed& own, const std::vector<Placed>& others, int64_t width) {
  auto at = std::lower_bound(others.begin(), others.end(), own.at[0] - kNear,
                             [](const Placed& each, float value) { return each.at[0] < value; });
  float least = std::numeric_limits<float>::infinity();
  for (; at != others.end() && at->at[0] <= own.at[0] + kNear && least > 0; ++at) {
    least = std::min(least, SquaredGap(own, *at, width));
  }
  return least;
}

}  // namespace

std::optional<std::string> WhyNotOwnFeatures(const at::Tensor& features,
                                             const std::vector<at::Tensor>& others) {
  torch::NoGradGuard no_gradient;
  const auto rows = features.contiguous();
  const int64_t count = rows.size(0), width = rows.size(1);
  if (count == 0) return std::nullopt;
  const Columns columns = WidestColumns(rows);
  const auto own = InOrder({rows}, columns);
  if (count >= kEnough) {
    const int64_t alike = CountAlike(own, width);
    if (2 * alike > count) {
      return fmt::format("{} of {} rows are nearly another one of them", alike, count);
    }
    const double rank = SpreadOf(rows).rank;
    if (rank < kOneLine) return fmt::format("all rows on one line: effective rank {:.5f}", rank);
  }
  const auto there = InOrder(others, columns);
  int64_t near = 0;
  for (const Placed& row : own) {
    const float gap = LeastGap(row, there, width);
    if (gap == 0) return "a row is copied from another client's";
    near += gap <= kNear * kNear;
  }
  if (10 * near > count) {
    return fmt::format("{} of {} rows are nearly another client's", near, count);
  }
  return std::nullopt;
}

}  // namespace kindred

#include "server/feature_checks.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/feature_spread.h"

namespace kindred {
namespace {

constexpr float kNear = 1e-3f;      // a distance
constexpr int64_t kEnough = 8;      // rows, to say that they are too much alike
constexpr double kOneLine = 1.001;  // an effective rank

// A row and its value in one column.
struct Placed {
  float at = 0;
  const float* row = nullptr;
};

// All rows in the order of a column. Rows that are near each other are near in every column.
std::vector<Placed> InOrder(const std::vector<at::Tensor>& parts, int64_t column) {
  std::vector<Placed> placed;
  for (const auto& rows : parts) {
    for (int64_t i = 0; i < rows.size(0); ++i) {
      const float* row = rows.data_ptr<float>() + i * rows.size(1);
      placed.push_back({row[column], row});
    }
  }
  std::sort(placed.begin(), placed.end(),
            [](const Placed& a, const Placed& b) { return a.at < b.at; });
  return placed;
}

// |a - b|^2; anything above the limit when it is above.
float SquaredGap(const float* a, const float* b, int64_t width) {
  constexpr int64_t kAtATime = 16;
  float sum = 0;
  for (int64_t start = 0; start < width && sum <= kNear * kNear; start += kAtATime) {
    for (int64_t i = start; i < std::min(width, start + kAtATime); ++i) {
      sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
  }
  return sum;
}

int64_t CountAlike(const std::vector<Placed>& own, int64_t width) {
  const auto alike = [&](size_t i, size_t j) {
    return SquaredGap(own[i].row, own[j].row, width) <= kNear * kNear;
  };
  int64_t count = 0;
  for (size_t i = 0; i < own.size(); ++i) {
    bool found = false;
    for (size_t j = i + 1; !found && j < own.size() && own[j].at - own[i].at <= kNear; ++j) {
      found = alike(i, j);
    }
    for (size_t j = i; !found && j > 0 && own[i].at - own[j - 1].at <= kNear; --j) {
      found = alike(i, j - 1);
    }
    count += found;
  }
  return count;
}

// The least |row - other|^2 over the others that are near, or something above the limit.
float LeastGap(const Placed& own, const std::vector<Placed>& others, int64_t width) {
  auto at = std::lower_bound(others.begin(), others.end(), own.at - kNear,
                             [](const Placed& each, float value) { return each.at < value; });
  float least = std::numeric_limits<float>::infinity();
  for (; at != others.end() && at->at <= own.at + kNear && least > 0; ++at) {
    least = std::min(least, SquaredGap(own.row, at->row, width));
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
  // The widest column tells rows apart best.
  const auto column = count > 1 ? rows.var(0).argmax().item<int64_t>() : 0;
  const auto own = InOrder({rows}, column);
  if (count >= kEnough) {
    const int64_t alike = CountAlike(own, width);
    if (2 * alike > count) {
      return fmt::format("{} of {} rows are nearly another one of them", alike, count);
    }
    const double rank = SpreadOf(rows).rank;
    if (rank < kOneLine) return fmt::format("all rows on one line: effective rank {:.5f}", rank);
  }
  const auto there = InOrder(others, column);
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

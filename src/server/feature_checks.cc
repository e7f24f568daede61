#include "server/feature_checks.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cmath>
#include <limits>
#include <utility>

#include "model/feature_spread.h"

namespace kindred {
namespace {

constexpr float kNear = 1e-3f;      // a distance
constexpr int64_t kEnough = 8;      // rows, to say that they are too much alike
constexpr double kOneLine = 1.001;  // an effective rank
// Rows that one is compared with at most, on each side of it: crafted rows are all near each other
// in every column, and would cost the square of their number. Honest ones have a few.
constexpr size_t kMostCompared = 1024;

using Placed = OrderedRows::Placed;

// |a - b|^2; anything above the limit when it is above.
float SquaredGap(const Placed& a, const Placed& b, int64_t width, float near) {
  constexpr int64_t kAtATime = 16;
  float sum = 0;
  for (size_t c = 1; c < a.at.size(); ++c) sum = std::max(sum, std::abs(a.at[c] - b.at[c]));
  if (sum > near) return std::numeric_limits<float>::infinity();
  sum = 0;
  for (int64_t start = 0; start < width && sum <= near * near; start += kAtATime) {
    for (int64_t i = start; i < std::min(width, start + kAtATime); ++i) {
      sum += (a.row[i] - b.row[i]) * (a.row[i] - b.row[i]);
    }
  }
  return sum;
}

std::string_view BytesIn(const float* row, int64_t width) {
  return {reinterpret_cast<const char*>(row), static_cast<size_t>(width) * sizeof(float)};
}

int64_t CountAlike(const OrderedRows& rows) {
  const std::vector<Placed>& own = rows.rows();
  const auto alike = [&](size_t i, size_t j) {
    return SquaredGap(own[i], own[j], rows.width(), kNear) <= kNear * kNear;
  };
  const auto near = [&](size_t i, size_t j) {
    return std::abs(own[j].at[0] - own[i].at[0]) <= kNear;
  };
  int64_t count = 0;
  for (size_t i = 0; i < own.size(); ++i) {
    const size_t end = std::min(own.size(), i + 1 + kMostCompared);
    const size_t begin = i > kMostCompared ? i - kMostCompared : 0;
    bool found = false;
    for (size_t j = i + 1; !found && j < end && near(i, j); ++j) found = alike(i, j);
    for (size_t j = i; !found && j > begin && near(i, j - 1); --j) found = alike(i, j - 1);
    count += found;
  }
  return count;
}

// The widest columns tell rows apart best; a few rows of each client say which they are.
std::array<int64_t, 4> WidestColumns(const std::vector<at::Tensor>& parts) {
  constexpr int64_t kFew = 64;
  const int64_t of_each = std::max<int64_t>(2, kFew / static_cast<int64_t>(parts.size()));
  std::vector<at::Tensor> few;
  for (const auto& rows : parts) few.push_back(rows.slice(0, 0, of_each));
  const auto some = torch::cat(few);
  std::array<int64_t, 4> columns = {};
  if (some.size(0) < 2) return columns;
  const auto order = some.var(0).argsort(/*dim=*/0, /*descending=*/true);
  for (size_t i = 0; i < columns.size(); ++i) {
    columns[i] = order[static_cast<int64_t>(i) % order.size(0)].item<int64_t>();
  }
  return columns;
}

}  // namespace

OrderedRows::OrderedRows(const std::map<int, at::Tensor>& rows) {
  torch::NoGradGuard no_gradient;
  std::vector<int> clients;
  for (const auto& [client, tensor] : rows) {
    if (tensor.size(0) == 0) continue;
    kept_.push_back(tensor.contiguous());
    clients.push_back(client);
  }
  if (kept_.empty()) return;
  width_ = kept_[0].size(1);
  columns_ = WidestColumns(kept_);
  for (size_t k = 0; k < kept_.size(); ++k) {
    const float* first = kept_[k].data_ptr<float>();
    for (int64_t i = 0; i < kept_[k].size(0); ++i) {
      placed_.push_back(Place(first + i * width_, clients[k]));
    }
  }
  std::sort(placed_.begin(), placed_.end(),
            [](const Placed& a, const Placed& b) { return a.at[0] < b.at[0]; });
  for (const Placed& each : placed_) by_bytes_.push_back({BytesIn(each.row, width_), each.client});
  std::sort(by_bytes_.begin(), by_bytes_.end());
  by_bytes_.erase(std::unique(by_bytes_.begin(), by_bytes_.end()), by_bytes_.end());
}

bool OrderedRows::HasCopy(const Placed& own) const {
  const auto bytes = BytesIn(own.row, width_);
  auto at = std::lower_bound(by_bytes_.begin(), by_bytes_.end(), std::pair(bytes, INT_MIN));
  if (at != by_bytes_.end() && *at == std::pair(bytes, own.client)) ++at;
  return at != by_bytes_.end() && at->first == bytes;
}

OrderedRows::Placed OrderedRows::Place(const float* row, int client) const {
  Placed placed = {.row = row, .client = client};
  for (size_t c = 0; c < columns_.size(); ++c) placed.at[c] = row[columns_[c]];
  return placed;
}

float OrderedRows::LeastGap(const Placed& own, float near, int64_t* compared) const {
  const auto middle =
      std::lower_bound(placed_.begin(), placed_.end(), own.at[0],
                       [](const Placed& each, float value) { return each.at[0] < value; });
  float least = std::numeric_limits<float>::infinity();
  size_t count = 0;
  const auto compare = [&](const Placed& other) {
    if (other.client != own.client) least = std::min(least, SquaredGap(own, other, width_, near));
    ++count;
  };
  for (auto at = middle; at != placed_.end() && at->at[0] <= own.at[0] + near; ++at) {
    if (count == kMostCompared) break;
    compare(*at);
  }
  const size_t right = std::exchange(count, 0);
  for (auto at = middle; at != placed_.begin() && (at - 1)->at[0] >= own.at[0] - near; --at) {
    if (count == kMostCompared) break;
    compare(*(at - 1));
  }
  if (compared != nullptr) *compared += static_cast<int64_t>(right + count);
  return least;
}

std::optional<std::string> CheckOwnFeatures(const at::Tensor& features, int client,
                                            const OrderedRows& shared) {
  torch::NoGradGuard no_gradient;
  const auto rows = features.contiguous();
  const int64_t count = rows.size(0), width = rows.size(1);
  if (count == 0) return std::nullopt;
  if (count >= kEnough) {
    const int64_t alike = CountAlike(OrderedRows({{client, rows}}));
    if (2 * alike > count) {
      return fmt::format("{} of {} rows are nearly another one of them", alike, count);
    }
    const double rank = SpreadOf(rows).rank;
    if (rank < kOneLine) return fmt::format("all rows on one line: effective rank {:.5f}", rank);
  }
  int64_t near = 0;
  for (int64_t i = 0; i < count; ++i) {
    const auto own = shared.Place(rows.data_ptr<float>() + i * width, client);
    if (shared.HasCopy(own)) return "a row is copied from another client's";
    near += shared.LeastGap(own, kNear) <= kNear * kNear;
  }
  if (10 * near > count) {
    return fmt::format("{} of {} rows are nearly another client's", near, count);
  }
  return std::nullopt;
}

}  // namespace kindred

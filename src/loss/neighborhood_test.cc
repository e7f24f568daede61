#include "loss/neighborhood.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kindred {
namespace {

torch::Tensor NeighborRows(int64_t rows, int64_t dim, int seed) {
  torch::manual_seed(seed);
  return torch::nn::functional::normalize(torch::randn({rows, dim}, torch::kDouble));
}

std::vector<std::vector<double>> ToLoops(const torch::Tensor& matrix) {
  std::vector<std::vector<double>> rows(static_cast<size_t>(matrix.size(0)));
  for (int64_t i = 0; i < matrix.size(0); ++i) {
    for (int64_t j = 0; j < matrix.size(1); ++j) {
      rows[static_cast<size_t>(i)].push_back(matrix[i][j].item<double>());
    }
  }
  return rows;
}

struct ByLoops {
  double loss = 0;
  std::vector<std::vector<size_t>> neighbors;
};

// Eq. 8-11 written out: N distributions over K - N + 1 rows for each query.
ByLoops NeighborhoodByLoops(const torch::Tensor& q, const torch::Tensor& candidates, size_t n,
                            double tau, const std::vector<std::vector<size_t>>* fixed = nullptr) {
  const auto queries = ToLoops(q), rows = ToLoops(candidates);
  ByLoops result;
  for (size_t i = 0; i < queries.size(); ++i) {
    std::vector<double> u;
    for (const auto& row : rows) {
      u.push_back(std::inner_product(row.begin(), row.end(), queries[i].begin(), 0.0) / tau);
    }
    std::vector<size_t> order(rows.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return u[a] > u[b]; });
    std::vector<size_t> nearest(
        order.begin(), order.begin() + static_cast<std::ptrdiff_t>(std::min(n, order.size())));
    if (fixed != nullptr) nearest = (*fixed)[i];
    result.neighbors.push_back(nearest);
    for (const size_t j : nearest) {
      std::vector<double> logits = {u[j]};
      for (size_t a = 0; a < u.size(); ++a) {
        if (std::find(nearest.begin(), nearest.end(), a) == nearest.end()) logits.push_back(u[a]);
      }
      const double most = *std::max_element(logits.begin(), logits.end());
      double z = 0;
      for (const double logit : logits) z += std::exp(logit - most);
      for (const double logit : logits) {
        const double log_p = logit - most - std::log(z), p = std::exp(log_p);
        if (p > 0) result.loss -= p * log_p / static_cast<double>(nearest.size());
      }
    }
  }
  result.loss /= static_cast<double>(queries.size());
  return result;
}

void ExpectNeighbors(const Matched& matched, const ByLoops& expected) {
  ASSERT_EQ(matched.neighbors.size(0), static_cast<int64_t>(expected.neighbors.size()));
  for (size_t i = 0; i < expected.neighbors.size(); ++i) {
    ASSERT_EQ(matched.neighbors.size(1), static_cast<int64_t>(expected.neighbors[i].size()));
    for (size_t j = 0; j < expected.neighbors[i].size(); ++j) {
      EXPECT_EQ(matched.neighbors[static_cast<int64_t>(i)][static_cast<int64_t>(j)].item<int64_t>(),
                static_cast<int64_t>(expected.neighbors[i][j]));
    }
  }
}

TEST(Neighborhood, HandValue) {
  // One query (1, 0); candidates at cosine 1, 0 and 0; N = 1, tau 1: P is the first, and
  // p = (e, 1, 1) / (e + 2). H = log(e + 2) - e / (e + 2).
  const auto q = torch::tensor({{1.0, 0.0}}, torch::kDouble);
  const auto rows = torch::tensor({{1.0, 0.0}, {0.0, 1.0}, {0.0, -1.0}}, torch::kDouble);
  const double e = std::exp(1.0);
  EXPECT_NEAR(Neighborhood(q, rows, 1, 1).loss.item<double>(), std::log(e + 2) - e / (e + 2),
              1e-12);
}

TEST(Neighborhood, IsTheEquationsWrittenOut) {
  for (const int64_t batch : {1, 3}) {
    for (const int64_t count : {2, 5, 17, 40}) {
      for (const int64_t dim : {2, 8}) {
        for (const int64_t n : {int64_t{1}, int64_t{2}, int64_t{5}, count - 1}) {
          for (const double tau : {1e-4, 0.05, 0.5, 5.0}) {
            const auto q = NeighborRows(batch, dim, 1), rows = NeighborRows(count, dim, 2);
            const auto expected = NeighborhoodByLoops(q, rows, static_cast<size_t>(n), tau);
            const Matched matched = Neighborhood(q, rows, n, tau);
            EXPECT_NEAR(matched.loss.item<double>(), expected.loss, 1e-9 * (1 + expected.loss))
                << batch << " " << count << " " << dim << " " << n << " " << tau;
            ExpectNeighbors(matched, expected);
            const Matched single =
                Neighborhood(q.to(torch::kFloat), rows.to(torch::kFloat), n, std::max(tau, 0.05));
            const auto wanted =
                NeighborhoodByLoops(q, rows, static_cast<size_t>(n), std::max(tau, 0.05));
            EXPECT_NEAR(single.loss.item<double>(), wanted.loss, 1e-4 * (1 + wanted.loss));
          }
        }
      }
    }
  }
}

TEST(Neighborhood, EqualRowsAreTakenFromTheFirstOn) {
  const auto row = NeighborRows(1, 4, 3);
  const auto q = NeighborRows(2, 4, 4);
  const Matched matched = Neighborhood(q, row.repeat({7, 1}), 3, 0.1);
  for (int64_t i = 0; i < 2; ++i) {
    for (int64_t j = 0; j < 3; ++j) EXPECT_EQ(matched.neighbors[i][j].item<int64_t>(), j);
  }
  // Each distribution is even over 5 rows.
  EXPECT_NEAR(matched.loss.item<double>(), std::log(5.0), 1e-12);
}

TEST(Neighborhood, AsManyNeighborsAsCandidatesLeaveNothingToLearn) {
  for (const int64_t count : {0, 1, 3}) {
    auto q = NeighborRows(2, 4, 1).requires_grad_();
    const Matched matched = Neighborhood(q, NeighborRows(count, 4, 2), 3, 0.1);
    EXPECT_EQ(matched.loss.item<double>(), 0);
    EXPECT_EQ(matched.neighbors.size(1), count);
    matched.loss.backward();
    EXPECT_EQ(q.grad().abs().max().item<double>(), 0);
  }
}

TEST(Neighborhood, GradientIsThatOfFiniteDifferences) {
  for (const int64_t n : {1, 3, 8}) {
    for (const double tau : {0.05, 0.3}) {
      const auto rows = NeighborRows(9, 5, 6);
      auto q = NeighborRows(3, 5, 7).requires_grad_();
      (2 * Neighborhood(q, rows, n, tau).loss).backward();
      const auto at = NeighborhoodByLoops(q.detach(), rows, static_cast<size_t>(n), tau).neighbors;
      constexpr double kStep = 1e-6;
      for (int64_t i = 0; i < 3; ++i) {
        for (int64_t d = 0; d < 5; ++d) {
          auto up = q.detach().clone(), down = q.detach().clone();
          up[i][d] += kStep;
          down[i][d] -= kStep;
          const double slope =
              2 *
              (NeighborhoodByLoops(up, rows, static_cast<size_t>(n), tau, &at).loss -
               NeighborhoodByLoops(down, rows, static_cast<size_t>(n), tau, &at).loss) /
              (2 * kStep);
          EXPECT_NEAR(q.grad()[i][d].item<double>(), slope, 1e-5 * (1 + std::abs(slope)))
              << n << " " << tau;
        }
      }
    }
  }
}

TEST(Neighborhood, LogitsOfTenThousandStayFiniteInSinglePrecision) {
  // tau = 1e-4: similarities of +-1 become +-1e4.
  const auto x = torch::tensor({{1.0f, 0.0f}});
  const auto rows = torch::tensor({{1.0f, 0.0f}, {-1.0f, 0.0f}, {0.6f, 0.8f}, {1.0f, 0.0f}});
  for (const int64_t n : {1, 2, 3}) {
    auto q = x.clone().requires_grad_();
    const Matched matched = Neighborhood(q, rows, n, 1e-4);
    matched.loss.backward();
    EXPECT_TRUE(std::isfinite(matched.loss.item<double>())) << n;
    EXPECT_TRUE(torch::isfinite(q.grad()).all().item<bool>()) << n;
  }
  // N = 1: the equal fourth row shares the mass with the first: H = log 2.
  EXPECT_NEAR(Neighborhood(x, rows, 1, 1e-4).loss.item<double>(), std::log(2.0), 1e-5);
}

TEST(Neighborhood, GradientFlowsToQueriesAlone) {
  const auto rows = NeighborRows(9, 5, 6).requires_grad_();
  const auto q = NeighborRows(3, 5, 7).requires_grad_();
  Neighborhood(q, rows, 2, 0.1).loss.backward();
  EXPECT_TRUE(q.grad().defined());
  EXPECT_FALSE(rows.grad().defined());
}

}  // namespace
}  // namespace kindred

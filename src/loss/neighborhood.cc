#include "loss/neighborhood.h"

#include <torch/torch.h>

#include <algorithm>
#include <vector>

#include "loss/top_n.h"
#include "loss/with_gradient.h"

namespace kindred {
namespace {

// Rows of the nearest candidates, and of the one after them: [B, count] int64.
template <class T>
at::Tensor NearestRows(const at::Tensor& similarities, int64_t count) {
  const int64_t batch = similarities.size(0), candidates = similarities.size(1);
  auto rows = torch::empty({batch, count}, torch::kInt64);
  TopN<T> top;
  for (int64_t i = 0; i < batch; ++i) {
    top.Find({similarities.data_ptr<T>() + i * candidates, static_cast<size_t>(candidates)},
             {rows.data_ptr<int64_t>() + i * count, static_cast<size_t>(count)});
  }
  return rows;
}

struct Computed {
  at::Tensor loss, gradient, neighbors;
};

// With u = S / tau, m the largest u in R, v = u - m, Z = sum_R e^v and A = sum_R v e^v, the
// distribution of neighbour j has, relative to its own maximum u_j >= m and with w = e^(m - u_j),
//
//   Z_j = 1 + w Z,   H_j = log Z_j - w (A + (m - u_j) Z) / Z_j,
//
// and dH_j/du_a = -p_ja (log p_ja + H_j). With l_j = u_j - m + log Z_j, so that p_ja = e^(v_a -
// l_j), the sum over j separates: for a in R
//
//   sum_j dH_j/du_a = -e^v_a (v_a alpha + beta),
//   alpha = sum_j e^-l_j,  beta = sum_j e^-l_j (H_j - l_j).
Computed Compute(const at::Tensor& q, const at::Tensor& candidates, int64_t n, double tau) {
  torch::NoGradGuard no_gradient;
  const auto query = q.detach().contiguous(), rows = candidates.detach();
  const int64_t batch = query.size(0), count = rows.size(0);
  auto u = torch::mm(query, rows.t()).div_(tau);  // [B, M]
  const int64_t ranked = std::min(n + 1, count);
  const auto nearest = u.scalar_type() == torch::kDouble ? NearestRows<double>(u, ranked)
                                                         : NearestRows<float>(u, ranked);
  if (count <= n) {
    return {torch::zeros({}, query.options()), torch::zeros_like(query), nearest};
  }
  const auto neighbors = nearest.narrow(1, 0, n).contiguous();  // [B, N]
  const auto largest = u.gather(1, nearest.narrow(1, n, 1));    // m: [B, 1]
  const auto gap = (u.gather(1, neighbors) - largest);          // u_j - m >= 0: [B, N]
  auto v = u.sub_(largest);                                     // [B, M]
  auto e = v.exp();                                             // [B, M]
  e.scatter_(1, neighbors, 0.0);                                // R alone
  const auto z = e.sum(1, true), a = (e * v).sum(1, true);      // [B, 1]
  const auto w = (-gap).exp();                                  // [B, N]
  const auto z_j = 1 + w * z;
  const auto log_z_j = torch::log1p(w * z);
  const auto entropy = log_z_j - w * (a - gap * z) / z_j;  // H_j: [B, N]
  const auto l_j = gap + log_z_j;
  const auto decay = (-l_j).exp();
  const auto alpha = decay.sum(1, true), beta = (decay * (entropy - l_j)).sum(1, true);

  auto& slope = e.mul_(v.mul_(alpha).add_(beta)).neg_();  // sum_j dH_j/du: [B, M]
  slope.scatter_(1, neighbors, -(entropy - log_z_j) / z_j);
  const auto gradient = torch::mm(slope, rows).div_(tau * static_cast<double>(batch * n));
  return {entropy.mean(), gradient, neighbors};
}

}  // namespace

Matched Neighborhood(const at::Tensor& q, const at::Tensor& candidates, int64_t n, double tau) {
  const Computed computed = Compute(q, candidates, n, tau);
  return {WithGradient(q, computed.loss, computed.gradient), computed.neighbors};
}

}  // namespace kindred

#include "loss/contrastive.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "loss/with_gradient.h"

namespace kindred {
namespace {

constexpr int64_t kTile = 1024;  // rows of a bank at a time

// With p the softmax over the key and the negatives, dl/dq = (sum_n p_n n - (1 - p_k) k) / tau.
// Both the softmax's denominator and the sum over n are kept relative to the largest logit so far,
// and rescaled when a tile has a larger one.
std::pair<at::Tensor, at::Tensor> LossAndGradient(const at::Tensor& q, const at::Tensor& k,
                                                  const std::vector<Negatives>& negatives,
                                                  double tau, const at::Tensor& samples) {
  torch::NoGradGuard no_gradient;
  const auto query = q.detach(), key = k.detach();
  const auto positive = (query * key).sum(1, true) / tau;  // [B, 1]
  auto largest = positive.clone();                         // [B, 1]
  auto denominator = torch::ones_like(positive);           // sum of exp(logit - largest)
  auto weighted = key.clone();                             // sum of exp(logit - largest) row
  for (const auto& bank : negatives) {
    const int64_t rows = bank.weight > 0 ? bank.rows.size(0) : 0;
    for (int64_t from = 0; from < rows; from += kTile) {
      const int64_t size = std::min(kTile, rows - from);
      const auto tile = bank.rows.detach().narrow(0, from, size);
      auto logits = torch::mm(query, tile.t()).div_(tau);  // [B, T]
      if (bank.weight != 1) logits.add_(std::log(bank.weight));
      if (bank.samples.defined()) {
        const auto own = bank.samples.narrow(0, from, size) == samples.unsqueeze(1);  // [B, T]
        logits.masked_fill_(own, -std::numeric_limits<double>::infinity());
      }
      const auto now = torch::maximum(largest, logits.amax(1, true));
      const auto rescale = (largest - now).exp_();
      logits.sub_(now).exp_();
      denominator.mul_(rescale).add_(logits.sum(1, true));
      weighted.mul_(rescale).addmm_(logits, tile);
      largest = now;
    }
  }
  const auto loss = (largest + denominator.log() - positive).mean();
  const auto gradient =
      (weighted / denominator - key) / (tau * static_cast<double>(q.size(0)));  // [B, D]
  return {loss, gradient};
}

}  // namespace

at::Tensor Contrastive(const at::Tensor& q, const at::Tensor& k,
                       const std::vector<Negatives>& negatives, double tau,
                       const at::Tensor& samples) {
  const auto [loss, gradient] = LossAndGradient(q, k, negatives, tau, samples);
  return WithGradient(q, loss, gradient);
}

}  // namespace kindred

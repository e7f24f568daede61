#include "model/feature_spread.h"

#include <torch/torch.h>

#include <cmath>

namespace kindred {

FeatureSpread SpreadOf(const at::Tensor& rows) {
  torch::NoGradGuard no_gradient;
  if (rows.size(0) < 2) return {};
  const auto x = rows.to(torch::kDouble);
  const auto n = static_cast<double>(x.size(0)), d = static_cast<double>(x.size(1));
  FeatureSpread spread;
  const double sum = x.sum(0).pow(2).sum().item<double>();  // |sum of rows|^2
  const double squares = x.pow(2).sum().item<double>();
  spread.cosine = (sum - squares) / (n * (n - 1));
  spread.std = x.std(0, /*unbiased=*/false).mean().item<double>() * std::sqrt(d);
  auto eigenvalues = torch::linalg_eigvalsh(torch::mm(x.t(), x)).clamp_min(0);
  eigenvalues = eigenvalues / eigenvalues.sum();
  spread.rank = std::exp(-torch::special_xlogy(eigenvalues, eigenvalues).sum().item<double>());
  return spread;
}

}  // namespace kindred

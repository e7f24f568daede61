#include "eval/projection.h"

#include <torch/torch.h>

#include "base/error.h"

namespace kindred {

Projection PrincipalAxes(const at::Tensor& rows, int count) {
  Check(rows.dim() == 2 && rows.size(0) > 0 && rows.size(1) >= count && count >= 2,
        "too little to project");
  const auto x = rows.to(torch::kDouble);
  const auto centered = x - x.mean(0, true);
  const auto covariance = torch::mm(centered.t(), centered) / static_cast<double>(x.size(0));
  const auto [values, vectors] = torch::linalg_eigh(covariance, "L");  // rising
  auto axes = vectors.narrow(1, x.size(1) - count, count).flip({1});   // [D, count]
  const auto largest = axes.abs().argmax(0, true);
  axes = axes * axes.gather(0, largest).sign();
  const double all = values.clamp_min(0).sum().item<double>();
  const double shown = values.narrow(0, x.size(1) - 2, 2).clamp_min(0).sum().item<double>();
  return {torch::mm(centered, axes), all > 0 ? shown / all : 0};
}

Projection PrincipalPlane(const at::Tensor& rows) { return PrincipalAxes(rows, 2); }

}  // namespace kindred

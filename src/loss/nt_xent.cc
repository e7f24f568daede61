#include "loss/nt_xent.h"

#include <torch/torch.h>

#include <limits>

#include "base/error.h"

namespace kindred {

at::Tensor NtXent(const at::Tensor& z, const at::Tensor& negatives, double tau) {
  const int64_t views = z.size(0), batch = views / 2;
  Check(views == 2 * batch && batch > 0, "views that are not pairs");
  auto logits = torch::mm(z, z.t()) / tau;  // [2B, 2B]
  const auto self = torch::eye(views, torch::kBool);
  logits = logits.masked_fill(self, -std::numeric_limits<float>::infinity());
  if (negatives.size(0) > 0) {
    logits = torch::cat({logits, torch::mm(z, negatives.detach().t()) / tau}, 1);  // [2B, 2B + M]
  }
  const auto partner = torch::arange(views, torch::kInt64).roll(batch);
  return torch::nn::functional::cross_entropy(logits, partner);
}

}  // namespace kindred

#include "loss/contrastive.h"

#include <torch/torch.h>

namespace kindred {

at::Tensor Contrastive(const at::Tensor& q, const at::Tensor& k, const at::Tensor& negatives,
                       double tau) {
  const auto positive = (q * k.detach()).sum(1, true);            // [B, 1]
  const auto negative = torch::mm(q, negatives.detach().t());     // [B, M]
  const auto logits = torch::cat({positive, negative}, 1) / tau;  // [B, 1 + M]
  return (torch::logsumexp(logits, 1) - logits.select(1, 0)).mean();
}

}  // namespace kindred

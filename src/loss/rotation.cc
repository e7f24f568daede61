#include "loss/rotation.h"

#include <torch/torch.h>

#include "base/error.h"

namespace kindred {

at::Tensor FourTurns(const at::Tensor& x) {
  Check(x.dim() == 4 && x.size(2) == x.size(3), "images to turn that are not square");
  return torch::cat(
      {x, torch::rot90(x, 1, {2, 3}), torch::rot90(x, 2, {2, 3}), torch::rot90(x, 3, {2, 3})});
}

at::Tensor TurnsOf(int64_t batch) {
  return torch::arange(4, torch::kInt64).repeat_interleave(batch);
}

at::Tensor RotationLoss(const at::Tensor& logits) {
  return torch::nn::functional::cross_entropy(logits, TurnsOf(logits.size(0) / 4));
}

}  // namespace kindred

#include "loss/swapped_prediction.h"

#include <torch/torch.h>

namespace kindred {

at::Tensor SwappedPrediction(const at::Tensor& scores1, const at::Tensor& scores2,
                             const at::Tensor& codes1, const at::Tensor& codes2, double tau) {
  const auto from = [&](const at::Tensor& scores, const at::Tensor& codes) {
    return -(codes.detach() * torch::log_softmax(scores / tau, 1)).sum(1).mean();
  };
  return (from(scores1, codes2) + from(scores2, codes1)) / 2;
}

}  // namespace kindred

#include "loss/cluster_prediction.h"

#include <torch/torch.h>

namespace kindred {

at::Tensor ClusterPrediction(const at::Tensor& z, const at::Tensor& centroids,
                             const at::Tensor& assigned, double tau) {
  const auto logits = torch::mm(z, centroids.detach().t()) / tau;  // [N, K]
  return torch::nn::functional::cross_entropy(logits, assigned);
}

}  // namespace kindred

#include "loss/latent_regression.h"

#include <torch/torch.h>

namespace kindred {

at::Tensor LatentRegression(const at::Tensor& p, const at::Tensor& z) {
  return 2 - 2 * torch::cosine_similarity(p, z.detach(), 1).mean();
}

}  // namespace kindred

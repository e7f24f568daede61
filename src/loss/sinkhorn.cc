#include "loss/sinkhorn.h"

#include <torch/torch.h>

namespace kindred {

at::Tensor Sinkhorn(const at::Tensor& scores, double epsilon, int iterations) {
  torch::NoGradGuard no_gradient;
  auto logs = scores.detach() / epsilon;
  for (int i = 0; i < iterations; ++i) {
    logs = logs - torch::logsumexp(logs, 0, true);  // prototypes
    logs = logs - torch::logsumexp(logs, 1, true);  // samples
  }
  return logs.exp();
}

}  // namespace kindred

#include "model/momentum.h"

#include <torch/torch.h>

namespace kindred {

void UpdateMomentum(NetworkImpl& k, const NetworkImpl& q, double m) {
  torch::NoGradGuard no_gradient;
  const auto from = q.parameters();
  auto to = k.parameters();
  for (size_t i = 0; i < to.size(); ++i) to[i].mul_(m).add_(from[i], 1 - m);
}

}  // namespace kindred

// g: the projector, h -> z.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

namespace kindred {

// Linear - ReLU - Linear (MoCo v2's and CCL's). Tensors are named 0.weight,
// 0.bias, 2.weight, 2.bias, as in a torch Sequential.
class ProjectorImpl : public torch::nn::Module {
 public:
  ProjectorImpl(int64_t in, int64_t out);

  // h: [B, in] -> z: [B, out], not normalised.
  torch::Tensor forward(const torch::Tensor& h);

 private:
  torch::nn::Linear hidden_{nullptr}, last_{nullptr};
};
TORCH_MODULE(Projector);

}  // namespace kindred

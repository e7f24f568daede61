// g: the projector, h -> z.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include "model/split_batch_norm.h"

namespace kindred {

struct ProjectorOptions {
  int64_t hidden = 0;  // 0: as wide as h
  bool norm = false;   // batch norm after the hidden layer
  int64_t splits = 1;  // groups in which it sees a training batch
};

// Linear - ReLU - Linear, or with a norm Linear - BatchNorm - ReLU - Linear. Tensors are named as
// in a torch Sequential: 0.weight, 0.bias, 2.weight, 2.bias; with a norm 0, 1, 3.
class ProjectorImpl : public torch::nn::Module {
 public:
  ProjectorImpl(int64_t in, int64_t out, const ProjectorOptions& options = {});

  // h: [B, in] -> z: [B, out], not normalised.
  torch::Tensor forward(const torch::Tensor& h);

 private:
  torch::nn::Linear hidden_{nullptr}, last_{nullptr};
  SplitBatchNorm norm_{nullptr};
};
TORCH_MODULE(Projector);

}  // namespace kindred

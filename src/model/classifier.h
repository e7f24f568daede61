// f and a linear layer on h: what labels train.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include "model/resnet.h"

namespace kindred {

// Its children are "encoder" and "head".
class ClassifierImpl : public torch::nn::Module {
 public:
  ClassifierImpl(const ModelOptions& options, int64_t channels, int64_t classes);

  // x: [B, channels, H, W] -> logits: [B, classes].
  torch::Tensor forward(const torch::Tensor& x);

  std::vector<torch::Tensor> EncoderParameters() const { return encoder_->parameters(); }
  std::vector<torch::Tensor> HeadParameters() const { return head_->parameters(); }

 private:
  ResNet encoder_{nullptr};
  torch::nn::Linear head_{nullptr};
};
TORCH_MODULE(Classifier);

}  // namespace kindred

// f by the kernels of kernel/: what train.engine = "fast" runs instead of LibTorch's convolutions.
//
// The ResNet's way forward and back is written out over channels-last activations. To autograd it
// is one node from the parameters to h. Activations live in memory that is reused from step to
// step; a pass without gradients keeps none. Not to be shared between threads.
#pragma once

#include <torch/nn/module.h>

#include <memory>

#include "model/model_options.h"

namespace kindred {

class FastResNet {
 public:
  virtual ~FastResNet() = default;

  // As ResNetImpl::forward, with gradients to the parameters, not to x. training: norms use the
  // batch's statistics and move the running ones.
  virtual at::Tensor Forward(const at::Tensor& x, bool training) = 0;

  // Bytes of activations held for reuse.
  virtual size_t BytesHeld() const = 0;
};

// Of a ResNet, whose tensors it shares: parameters and running statistics.
std::shared_ptr<FastResNet> MakeFastResNet(const torch::nn::Module& resnet,
                                           const ModelOptions& options, int64_t channels);

}  // namespace kindred

// f: the encoder, a ResNet for small images.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/pimpl.h>

#include "model/fast_resnet.h"
#include "model/model_options.h"
#include "model/split_batch_norm.h"

namespace kindred {

// torchvision's basic block: two 3x3 convolutions beside a shortcut, which is a strided 1x1
// convolution where the shape changes.
class BasicBlockImpl : public torch::nn::Module {
 public:
  BasicBlockImpl(int64_t in, int64_t out, int64_t stride, int64_t splits);
  torch::Tensor forward(const torch::Tensor& x);

 private:
  torch::nn::Conv2d conv1_{nullptr}, conv2_{nullptr};
  SplitBatchNorm bn1_{nullptr}, bn2_{nullptr};
  torch::nn::Sequential downsample_{nullptr};
};
TORCH_MODULE(BasicBlock);

// ResNet-18 (two blocks a stage) or ResNet-10 (one) with a 3x3 stem of stride 1 and no max-pool.
// Its tensors have torchvision's names (conv1, bn1, layer1.0.conv1, ...). options.engine says what
// computes it: the modules below, or FastResNet on their tensors.
class ResNetImpl : public torch::nn::Module {
 public:
  ResNetImpl(const ModelOptions& options, int64_t channels);

  // x: [B, channels, H, W] -> h: [B, FeatureSize()], the global average of the last stage.
  torch::Tensor forward(torch::Tensor x);

  int64_t FeatureSize() const { return feature_size_; }

 private:
  int64_t feature_size_;
  torch::nn::Conv2d conv1_{nullptr};
  SplitBatchNorm bn1_{nullptr};
  torch::nn::Sequential layers_[4] = {nullptr, nullptr, nullptr, nullptr};
  std::shared_ptr<FastResNet> fast_;  // null: LibTorch's own
};
TORCH_MODULE(ResNet);

}  // namespace kindred

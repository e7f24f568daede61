#include "model/resnet.h"

#include <torch/torch.h>

namespace kindred {
namespace {

torch::nn::Conv2d Convolution(int64_t in, int64_t out, int64_t size, int64_t stride) {
  return torch::nn::Conv2d(
      torch::nn::Conv2dOptions(in, out, size).stride(stride).padding(size / 2).bias(false));
}

}  // namespace

BasicBlockImpl::BasicBlockImpl(int64_t in, int64_t out, int64_t stride, int64_t splits) {
  conv1_ = register_module("conv1", Convolution(in, out, 3, stride));
  bn1_ = register_module("bn1", SplitBatchNorm(out, splits));
  conv2_ = register_module("conv2", Convolution(out, out, 3, 1));
  bn2_ = register_module("bn2", SplitBatchNorm(out, splits));
  if (stride != 1 || in != out) {
    downsample_ = register_module(
        "downsample",
        torch::nn::Sequential(Convolution(in, out, 1, stride), SplitBatchNorm(out, splits)));
  }
}

torch::Tensor BasicBlockImpl::forward(const torch::Tensor& x) {
  const auto shortcut = downsample_.is_empty() ? x : downsample_->forward(x);
  const auto y = torch::relu(bn1_(conv1_(x)));
  return torch::relu(bn2_(conv2_(y)) + shortcut);
}

ResNetImpl::ResNetImpl(const ModelOptions& options, int64_t channels) {
  const int64_t width = options.width;
  const int blocks = options.arch == "resnet18" ? 2 : 1;
  conv1_ = register_module("conv1", Convolution(channels, width, 3, 1));
  bn1_ = register_module("bn1", SplitBatchNorm(width, options.bn_splits));
  int64_t in = width;
  for (int stage = 0; stage < 4; ++stage) {
    torch::nn::Sequential layer;
    const int64_t out = width << stage;
    for (int block = 0; block < blocks; ++block) {
      const int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      layer->push_back(BasicBlock(in, out, stride, options.bn_splits));
      in = out;
    }
    layers_[stage] = register_module("layer" + std::to_string(stage + 1), layer);
  }
  feature_size_ = in;
  if (options.engine == "fast") fast_ = MakeFastResNet(*this, options, channels);
}

torch::Tensor ResNetImpl::forward(torch::Tensor x) {
  if (fast_ != nullptr && x.is_cpu()) return fast_->Forward(x, is_training());
  x = torch::relu(bn1_(conv1_(x)));
  for (auto& layer : layers_) x = layer->forward(x);
  return x.mean({2, 3});
}

}  // namespace kindred

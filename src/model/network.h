// g after f: the network that momentum contrast has twice, as main model q and momentum model k,
// and other methods once.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include "model/named_tensors.h"
#include "model/projector.h"
#include "model/resnet.h"

namespace kindred {

class NetworkImpl : public torch::nn::Module {
 public:
  // `hidden`: how wide the projector is inside; 0: as h. Its norm, where model.projector_norm asks
  // for one, is split as the encoder's norms are.
  NetworkImpl(const ModelOptions& options, int64_t channels, int64_t hidden = 0);

  // x: [B, channels, H, W] -> features: [B, dim] unit rows, z / |z|.
  torch::Tensor forward(const torch::Tensor& x);

  // x -> z: [B, dim], not normalised.
  torch::Tensor Project(const torch::Tensor& x);

 private:
  ResNet encoder_{nullptr};
  Projector projector_{nullptr};
};
TORCH_MODULE(Network);

// Every parameter and buffer of a module, sharing its memory, by torch's names
// ("layer1.0.bn1.bias").
NamedTensors OwnTensorsOf(const torch::nn::Module& module);

// The same with the names of its children as prefixes: "encoder/conv1.weight", "projector/0.bias".
NamedTensors TensorsOf(const torch::nn::Module& module);

// Copies values into tensors of the same names and shapes.
void CopyInto(const NamedTensors& values, const NamedTensors& tensors);

// Puts a module's buffers back when it goes: a pass in between leaves running statistics alone.
class KeepBuffers {
 public:
  explicit KeepBuffers(const torch::nn::Module& module);
  ~KeepBuffers();
  KeepBuffers(const KeepBuffers&) = delete;
  KeepBuffers& operator=(const KeepBuffers&) = delete;

 private:
  std::vector<torch::Tensor> buffers_, saved_;
};

// The network's features [n, dim] of images, by the batch's statistics or the running ones, which
// stay as they are. Without gradient; the network is in training before and after.
torch::Tensor FeaturesWithoutTrace(Network& network, const torch::Tensor& images,
                                   bool batch_statistics);

// Fills a module's parameters from the seed: convolutions with He's normal (fan out), linear layers
// uniform in +-1/sqrt(fan in), norms with 1 and 0 (torchvision's ways). Tensor i draws from stream
// (seed, kInit, sample first + i): `first` keeps several modules of a model apart.
void Initialize(torch::nn::Module& module, uint64_t seed, uint64_t first = 0);

}  // namespace kindred

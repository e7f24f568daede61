#include "model/network.h"

#include <torch/torch.h>

#include <cmath>

#include "base/error.h"
#include "base/rng.h"

namespace kindred {

NetworkImpl::NetworkImpl(const ModelOptions& options, int64_t channels, int64_t hidden) {
  encoder_ = register_module("encoder", ResNet(options, channels));
  const ProjectorOptions projector = {
      .hidden = hidden, .norm = options.projector_norm, .splits = options.bn_splits};
  projector_ =
      register_module("projector", Projector(encoder_->FeatureSize(), options.dim, projector));
}

torch::Tensor NetworkImpl::forward(const torch::Tensor& x) {
  return torch::nn::functional::normalize(Project(x));
}

torch::Tensor NetworkImpl::Project(const torch::Tensor& x) { return projector_(encoder_(x)); }

NamedTensors OwnTensorsOf(const torch::nn::Module& module) {
  NamedTensors tensors;
  const auto add = [&](const auto& entry) { tensors.emplace(entry.key(), entry.value().detach()); };
  for (const auto& entry : module.named_parameters()) add(entry);
  for (const auto& entry : module.named_buffers()) add(entry);
  return tensors;
}

NamedTensors TensorsOf(const torch::nn::Module& module) {
  NamedTensors tensors;
  for (const auto& child : module.named_children()) {
    AddUnder(tensors, child.key(), OwnTensorsOf(*child.value()));
  }
  return tensors;
}

void CopyInto(const NamedTensors& values, const NamedTensors& tensors) {
  torch::NoGradGuard no_gradient;
  Check(values.size() == tensors.size(), "the models have different tensors");
  for (const auto& [name, tensor] : tensors) {
    const auto value = values.find(name);
    Check(value != values.end() && value->second.sizes() == tensor.sizes(),
          "the models differ in " + name);
    tensor.copy_(value->second);
  }
}

KeepBuffers::KeepBuffers(const torch::nn::Module& module) : buffers_(module.buffers()) {
  for (const auto& buffer : buffers_) saved_.push_back(buffer.clone());
}

KeepBuffers::~KeepBuffers() {
  // Through a handle with a version of its own: a backward pass still to come has saved the
  // buffers, does not read them in training, and would refuse ones that it sees changed.
  for (size_t i = 0; i < buffers_.size(); ++i) buffers_[i].variable_data().copy_(saved_[i]);
}

torch::Tensor FeaturesWithoutTrace(Network& network, const torch::Tensor& images,
                                   bool batch_statistics) {
  torch::NoGradGuard no_gradient;
  const KeepBuffers keep(*network);
  network->train(batch_statistics);
  const auto features = network(images);
  network->train();
  return features;
}

void Initialize(torch::nn::Module& module, uint64_t seed, uint64_t first) {
  torch::NoGradGuard no_gradient;
  uint64_t sample = first;
  double bound = 0;  // of a linear layer; its bias follows its weight. 0 elsewhere
  for (auto& entry : module.named_parameters()) {
    torch::Tensor& tensor = entry.value();
    Rng rng({.seed = seed, .purpose = Purpose::kInit, .sample = sample++});
    auto values = torch::empty(tensor.sizes(), torch::kFloat);  // for doubles too
    float* data = values.data_ptr<float>();
    const auto size = tensor.numel();
    if (tensor.dim() == 4) {  // [out, in, h, w]
      const double fan_out = static_cast<double>(tensor.size(0) * tensor.size(2) * tensor.size(3));
      const double deviation = std::sqrt(2.0 / fan_out);
      for (int64_t i = 0; i < size; ++i) data[i] = static_cast<float>(deviation * rng.Normal());
    } else if (tensor.dim() == 2 || bound > 0) {  // [out, in], then its bias
      if (tensor.dim() == 2) bound = 1.0 / std::sqrt(static_cast<double>(tensor.size(1)));
      for (int64_t i = 0; i < size; ++i) data[i] = static_cast<float>(rng.Uniform(-bound, bound));
      if (tensor.dim() != 2) bound = 0;
    } else {
      values.fill_(entry.key().ends_with("weight") ? 1.0 : 0.0);
    }
    tensor.copy_(values);
  }
}

}  // namespace kindred

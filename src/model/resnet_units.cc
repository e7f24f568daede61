#include "model/resnet_units.h"

#include <torch/torch.h>

#include <map>
#include <string>

#include "base/error.h"

namespace kindred {

std::vector<Unit> UnitsOf(const torch::nn::Module& resnet) {
  std::vector<Unit> units;
  std::map<std::string, at::Tensor> tensors;
  for (const auto& entry : resnet.named_parameters()) tensors[entry.key()] = entry.value();
  for (const auto& entry : resnet.named_buffers()) tensors[entry.key()] = entry.value();
  // Adds a unit; returns its value.
  const auto add = [&](const std::string& conv, const std::string& norm, int64_t stride,
                       size_t input, size_t residual, bool relu) {
    const at::Tensor& weight = tensors.at(conv + ".weight");
    units.push_back({.in = weight.size(1),
                     .out = weight.size(0),
                     .window = {weight.size(2), stride},
                     .input = input,
                     .residual = residual,
                     .relu = relu,
                     .weight = weight,
                     .gamma = tensors.at(norm + ".weight"),
                     .beta = tensors.at(norm + ".bias"),
                     .running_mean = tensors.at(norm + ".running_mean"),
                     .running_var = tensors.at(norm + ".running_var"),
                     .batches = tensors.at(norm + ".num_batches_tracked")});
    return units.size();
  };
  size_t x = add("conv1", "bn1", 1, 0, 0, true);
  for (int stage = 1; stage <= 4; ++stage) {
    for (int block = 0;; ++block) {
      const std::string name = fmt::format("layer{}.{}.", stage, block);
      if (!tensors.contains(name + "conv1.weight")) break;
      const int64_t stride = stage > 1 && block == 0 ? 2 : 1;
      const size_t y = add(name + "conv1", name + "bn1", stride, x, 0, true);
      size_t shortcut = x;
      if (tensors.contains(name + "downsample.0.weight")) {
        shortcut = add(name + "downsample.0", name + "downsample.1", stride, x, 0, false);
      }
      x = add(name + "conv2", name + "bn2", 1, y, shortcut, true);
    }
  }
  return units;
}

}  // namespace kindred

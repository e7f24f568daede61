// A ResNet as the list of what its way forward computes, in order.
#pragma once

#include <torch/nn/module.h>

#include <vector>

#include "kernel/conv.h"

namespace kindred {

// A convolution, its batch norm, perhaps a residual, perhaps ReLU. Values are numbered: 0 is the
// image, i + 1 what unit i makes.
struct Unit {
  int64_t in, out;
  Window window;
  size_t input;
  size_t residual;  // 0: none
  bool relu;
  at::Tensor weight, gamma, beta, running_mean, running_var, batches;
};

// Of a ResNet, whose tensors they share.
std::vector<Unit> UnitsOf(const torch::nn::Module& resnet);

}  // namespace kindred

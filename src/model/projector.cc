#include "model/projector.h"

#include <torch/torch.h>

namespace kindred {

ProjectorImpl::ProjectorImpl(int64_t in, int64_t out) {
  hidden_ = register_module("0", torch::nn::Linear(in, in));
  last_ = register_module("2", torch::nn::Linear(in, out));
}

torch::Tensor ProjectorImpl::forward(const torch::Tensor& h) {
  return last_(torch::relu(hidden_(h)));
}

}  // namespace kindred

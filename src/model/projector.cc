#include "model/projector.h"

#include <torch/torch.h>

namespace kindred {

ProjectorImpl::ProjectorImpl(int64_t in, int64_t out, const ProjectorOptions& options) {
  const int64_t hidden = options.hidden > 0 ? options.hidden : in;
  hidden_ = register_module("0", torch::nn::Linear(in, hidden));
  if (options.norm) norm_ = register_module("1", SplitBatchNorm(hidden, options.splits));
  last_ = register_module(options.norm ? "3" : "2", torch::nn::Linear(hidden, out));
}

torch::Tensor ProjectorImpl::forward(const torch::Tensor& h) {
  auto hidden = hidden_(h);
  if (norm_) hidden = norm_(hidden);
  return last_(torch::relu(hidden));
}

}  // namespace kindred

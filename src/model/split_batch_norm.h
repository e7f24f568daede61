// Batch norm that sees a training batch in groups, as on several GPUs.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

namespace kindred {

// In training a batch [B, C, H, W] is normalised in `splits` groups, sample b in group b mod
// splits: a query cannot find its key through the batch's statistics (what multi-GPU shuffling gave
// MoCo). The running statistics move to the mean over the groups. A batch that the groups do not
// divide is normalised in the largest number of groups that does; each has at least two values of a
// channel, and where there is one in all the running statistics are taken. Names are torchvision's
// (weight, bias, running_mean, running_var, num_batches_tracked).
class SplitBatchNormImpl : public torch::nn::Module {
 public:
  SplitBatchNormImpl(int64_t channels, int64_t splits);

  torch::Tensor forward(const torch::Tensor& x);

 private:
  int64_t splits_;
  torch::Tensor weight_, bias_, running_mean_, running_var_, num_batches_tracked_;
};
TORCH_MODULE(SplitBatchNorm);

}  // namespace kindred

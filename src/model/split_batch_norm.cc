#include "model/split_batch_norm.h"

#include <torch/torch.h>

namespace kindred {
namespace {

constexpr double kMomentum = 0.1;
constexpr double kEpsilon = 1e-5;

}  // namespace

SplitBatchNormImpl::SplitBatchNormImpl(int64_t channels, int64_t splits) : splits_(splits) {
  weight_ = register_parameter("weight", torch::ones({channels}));
  bias_ = register_parameter("bias", torch::zeros({channels}));
  running_mean_ = register_buffer("running_mean", torch::zeros({channels}));
  running_var_ = register_buffer("running_var", torch::ones({channels}));
  num_batches_tracked_ = register_buffer("num_batches_tracked", torch::zeros({}, torch::kInt64));
}

torch::Tensor SplitBatchNormImpl::forward(const torch::Tensor& x) {
  const int64_t batch = x.size(0), channels = x.size(1);
  const int64_t values = x.numel() / channels;  // of a channel
  if (!is_training() || values < 2) {
    return torch::batch_norm(x, weight_, bias_, running_mean_, running_var_, false, kMomentum,
                             kEpsilon, false);
  }
  num_batches_tracked_ += 1;
  int64_t groups = std::min({splits_, batch, values / 2});
  while (batch % groups != 0) --groups;
  if (groups == 1) {
    return torch::batch_norm(x, weight_, bias_, running_mean_, running_var_, true, kMomentum,
                             kEpsilon, false);
  }
  // Neighbouring samples become channels of one: [B / G, G C, H, W].
  std::vector<int64_t> shape = x.sizes().vec();
  shape[0] = batch / groups;
  shape[1] = groups * channels;
  auto mean = running_mean_.repeat(groups), variance = running_var_.repeat(groups);
  const auto y =
      torch::batch_norm(x.contiguous().view(shape), weight_.repeat(groups), bias_.repeat(groups),
                        mean, variance, true, kMomentum, kEpsilon, false);
  running_mean_.copy_(mean.view({groups, channels}).mean(0));
  running_var_.copy_(variance.view({groups, channels}).mean(0));
  return y.view(x.sizes());
}

}  // namespace kindred

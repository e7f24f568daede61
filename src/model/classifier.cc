#include "model/classifier.h"

#include <torch/torch.h>

namespace kindred {

ClassifierImpl::ClassifierImpl(const ModelOptions& options, int64_t channels, int64_t classes) {
  encoder_ = register_module("encoder", ResNet(options, channels));
  head_ = register_module("head", torch::nn::Linear(encoder_->FeatureSize(), classes));
}

torch::Tensor ClassifierImpl::forward(const torch::Tensor& x) { return head_(encoder_(x)); }

}  // namespace kindred

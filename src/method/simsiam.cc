#include "method/simsiam.h"

#include <torch/torch.h>

#include <algorithm>

#include "loss/latent_regression.h"
#include "method/one_model.h"

namespace kindred {
namespace {

class Simsiam : public OneNetwork {
 public:
  explicit Simsiam(const MethodContext& context)
      : OneNetwork(context),
        predictor_(context.model.dim, context.model.dim,
                   ProjectorOptions{.hidden = std::max<int64_t>(1, context.model.dim / 4),
                                    .norm = true,
                                    .splits = context.model.bn_splits}) {
    CheckBatchNorm(context);
    Initialize(*predictor_, context.seed, model_->parameters().size());
    predictor_->train();
  }

  bool NormsFeatures() const override { return true; }  // in the predictor

  NamedTensors Shared() const override {
    NamedTensors tensors = OneNetwork::Shared();
    AddUnder(tensors, "predictor", OwnTensorsOf(*predictor_));
    return tensors;
  }

  std::vector<at::Tensor> Trained() const override {
    auto trained = OneNetwork::Trained();
    const auto predictor = predictor_->parameters();
    trained.insert(trained.end(), predictor.begin(), predictor.end());
    return trained;
  }

  // Each view predicts the other, which gets no gradient. One view at a time: batch norm sees one
  // view of each image. The predictor is narrow inside, a quarter of z, as published.
  at::Tensor Loss(const Batch& batch, NamedTensors&) override {
    const auto z1 = model_->Project(batch.first), z2 = model_->Project(batch.second);
    numbers_.Saw(torch::nn::functional::normalize(z1.detach()));
    const auto p1 = predictor_(z1), p2 = predictor_(z2);  // in this order: it moves statistics
    // The published -cos / 2 - cos / 2, above a constant: a latent regression is 2 - 2 cos.
    return (LatentRegression(p1, z2) + LatentRegression(p2, z1)) / 4;
  }

 private:
  Projector predictor_;
};

}  // namespace

std::unique_ptr<Method> MakeSimsiam(const MethodContext& context) {
  return std::make_unique<Simsiam>(context);
}

}  // namespace kindred

#include "method/byol.h"

#include <torch/torch.h>

#include "loss/latent_regression.h"
#include "model/momentum.h"

namespace kindred {

Byol::Byol(const MethodContext& context)
    : momentum_(context.method.Of<ByolOptions>().momentum),
      online_(context.model, context.channels, context.method.Of<ByolOptions>().hidden),
      target_(context.model, context.channels, context.method.Of<ByolOptions>().hidden),
      predictor_(context.model.dim, context.model.dim,
                 ProjectorOptions{.hidden = context.method.Of<ByolOptions>().hidden,
                                  .norm = true,
                                  .splits = context.model.bn_splits}) {
  Initialize(*online_, context.seed);
  Initialize(*predictor_, context.seed, online_->parameters().size());
  online_->train();
  target_->train();
  predictor_->train();
}

NamedTensors Byol::Shared() const {
  NamedTensors tensors = TensorsOf(*online_);
  AddUnder(tensors, "predictor", OwnTensorsOf(*predictor_));
  return tensors;
}

std::vector<at::Tensor> Byol::Trained() const {
  auto trained = online_->parameters();
  const auto predictor = predictor_->parameters();
  trained.insert(trained.end(), predictor.begin(), predictor.end());
  return trained;
}

void Byol::BeginRound(const RoundStart&, NamedTensors& local) {
  numbers_.Begin();
  const NamedTensors kept = Under(local, "target");
  CopyInto(kept.empty() ? TensorsOf(*online_) : kept, TensorsOf(*target_));
}

// Each view is predicted from the other. Views go through the networks one at a time, as in BYOL:
// batch norm sees one view of each image.
at::Tensor Byol::Loss(const Batch& batch, NamedTensors&) {
  at::Tensor target1, target2;
  {
    torch::NoGradGuard no_gradient;
    target1 = target_->Project(batch.first);
    target2 = target_->Project(batch.second);
  }
  const auto online1 = online_->Project(batch.first), online2 = online_->Project(batch.second);
  numbers_.Saw(torch::nn::functional::normalize(online1.detach()));
  // One after the other by name: the order moves the running statistics.
  const auto predicted2 = predictor_(online1), predicted1 = predictor_(online2);
  return LatentRegression(predicted2, target2) + LatentRegression(predicted1, target1);
}

void Byol::AfterStep(NamedTensors&) { UpdateMomentum(*target_, *online_, momentum_); }

Metrics Byol::EndRound(NamedTensors& local) {
  for (const auto& [name, tensor] : Clone(TensorsOf(*target_))) local["target/" + name] = tensor;
  return numbers_.End();
}

std::unique_ptr<Method> MakeByol(const MethodContext& context) {
  CheckBatchNorm(context);
  return std::make_unique<Byol>(context);
}

}  // namespace kindred

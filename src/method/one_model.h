// What methods have in common that train one model and share all of it.
#pragma once

#include <utility>

#include "method/method.h"
#include "method/round_numbers.h"
#include "model/network.h"

namespace kindred {

// Shared: the children of the model, "encoder/..." first. Kept: nothing.
template <class Model>
class OneModel : public Method {
 public:
  // `model` gets the seed's weights.
  OneModel(const MethodContext& context, Model model) : model_(std::move(model)) {
    Initialize(*model_, context.seed);
    model_->train();
  }

  NamedTensors Shared() const override { return TensorsOf(*model_); }
  std::string EncoderPrefix() const override { return "encoder"; }
  std::vector<at::Tensor> Trained() const override { return model_->parameters(); }
  NamedTensors NewLocalState() const override { return {}; }
  void BeginRound(const RoundStart&, NamedTensors&) override { numbers_.Begin(); }
  void AfterStep(NamedTensors&) override {}
  Metrics EndRound(NamedTensors&) override { return numbers_.End(); }

 protected:
  Model model_;
  RoundNumbers numbers_;  // of the round under way
};

// Encoder and projector.
class OneNetwork : public OneModel<Network> {
 public:
  explicit OneNetwork(const MethodContext& context)
      : OneModel(context, Network(context.model, context.channels)),
        norms_(context.model.projector_norm) {
    if (norms_) CheckBatchNorm(context);
  }

  bool NormsFeatures() const override { return norms_; }

 private:
  bool norms_;
};

}  // namespace kindred

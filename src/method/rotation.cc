#include "method/rotation.h"

#include <torch/torch.h>

#include <cmath>

#include "base/error.h"
#include "loss/rotation.h"
#include "method/round_numbers.h"
#include "model/classifier.h"
#include "model/network.h"

namespace kindred {
namespace {

class Rotation : public Method {
 public:
  explicit Rotation(const MethodContext& context) : model_(context.model, context.channels, 4) {
    Initialize(*model_, context.seed);
    model_->train();
  }

  NamedTensors Shared() const override { return TensorsOf(*model_); }
  std::string EncoderPrefix() const override { return "encoder"; }
  std::vector<at::Tensor> Trained() const override { return model_->parameters(); }
  NamedTensors NewLocalState() const override { return {}; }
  void BeginRound(const RoundStart&, NamedTensors&) override { numbers_.Begin(); }

  // The first view in all four turns, one pass of 4B: twice the cost of two views. Nothing is
  // drawn; the second view is not used.
  at::Tensor Loss(const Batch& batch, NamedTensors&) override {
    const auto& x = batch.first;
    const auto logits = model_(FourTurns(x));  // [4B, 4]
    const auto loss = RotationLoss(logits);
    const auto right = logits.argmax(1) == TurnsOf(x.size(0));
    numbers_.Count("rotation_accuracy", right.to(torch::kDouble).mean().item<double>());
    numbers_.Count("loss_over_chance", loss.item<double>() / std::log(4.0));
    return loss;
  }

  void AfterStep(NamedTensors&) override {}
  Metrics EndRound(NamedTensors&) override { return numbers_.End(); }

 private:
  Classifier model_;
  RoundNumbers numbers_;  // of the round under way
};

}  // namespace

std::unique_ptr<Method> MakeRotation(const MethodContext& context) {
  CheckSquare(context);
  return std::make_unique<Rotation>(context);
}

}  // namespace kindred

#include "method/rotation.h"

#include <torch/torch.h>

#include <cmath>

#include "loss/rotation.h"
#include "method/one_model.h"
#include "model/classifier.h"

namespace kindred {
namespace {

class Rotation : public OneModel<Classifier> {
 public:
  explicit Rotation(const MethodContext& context)
      : OneModel(context, Classifier(context.model, context.channels, 4)) {}

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
};

}  // namespace

std::unique_ptr<Method> MakeRotation(const MethodContext& context) {
  CheckSquare(context);
  return std::make_unique<Rotation>(context);
}

}  // namespace kindred

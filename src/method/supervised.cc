#include "method/supervised.h"

#include <torch/torch.h>

#include "base/error.h"
#include "method/one_model.h"
#include "model/classifier.h"

namespace kindred {
namespace {

class Supervised : public OneModel<Classifier> {
 public:
  explicit Supervised(const MethodContext& context)
      : OneModel(context, Classifier(context.model, context.channels, context.classes)) {}

  bool UsesLabels() const override { return true; }

  // Cross-entropy of the first view's class.
  at::Tensor Loss(const Batch& batch, NamedTensors&) override {
    Check(batch.labels.defined(), "supervised learning without labels");
    return torch::nn::functional::cross_entropy(model_(batch.first), batch.labels);
  }
};

}  // namespace

std::unique_ptr<Method> MakeSupervised(const MethodContext& context) {
  if (context.classes < 2) {
    throw UsageError("method.name = \"supervised\" needs images of at least two classes");
  }
  return std::make_unique<Supervised>(context);
}

}  // namespace kindred

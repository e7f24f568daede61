#include "method/supervised.h"

#include <torch/torch.h>

#include "base/error.h"
#include "model/classifier.h"
#include "model/network.h"

namespace kindred {
namespace {

class Supervised : public Method {
 public:
  explicit Supervised(const MethodContext& context)
      : model_(context.model, context.channels, context.classes) {
    Initialize(*model_, context.seed);
    model_->train();
  }

  NamedTensors Shared() const override { return TensorsOf(*model_); }
  std::string EncoderPrefix() const override { return "encoder"; }
  std::vector<at::Tensor> Trained() const override { return model_->parameters(); }
  NamedTensors NewLocalState() const override { return {}; }
  bool UsesLabels() const override { return true; }

  // Cross-entropy of the first view's class.
  at::Tensor Loss(const Batch& batch, NamedTensors&) override {
    Check(batch.labels.defined(), "supervised learning without labels");
    return torch::nn::functional::cross_entropy(model_(batch.first), batch.labels);
  }

  void AfterStep(NamedTensors&) override {}

 private:
  Classifier model_;
};

}  // namespace

std::unique_ptr<Method> MakeSupervised(const MethodContext& context) {
  if (context.classes < 2) {
    throw UsageError("method.name = \"supervised\" needs images of at least two classes");
  }
  return std::make_unique<Supervised>(context);
}

}  // namespace kindred

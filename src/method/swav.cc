#include "method/swav.h"

#include <torch/torch.h>

#include <cmath>

#include "loss/sinkhorn.h"
#include "loss/swapped_prediction.h"
#include "method/one_model.h"

namespace kindred {
namespace {

class Swav : public OneNetwork {
 public:
  explicit Swav(const MethodContext& context)
      : OneNetwork(context),
        options_(context.method.Of<SwavOptions>()),
        prototypes_(torch::nn::LinearOptions(context.model.dim, options_.prototypes).bias(false)) {
    Initialize(*prototypes_, context.seed, model_->parameters().size());
    Renormalize();
  }

  NamedTensors Shared() const override {
    NamedTensors tensors = OneNetwork::Shared();
    AddUnder(tensors, "prototypes", OwnTensorsOf(*prototypes_));
    return tensors;
  }

  std::vector<at::Tensor> Trained() const override {
    auto trained = OneNetwork::Trained();
    trained.push_back(prototypes_->weight);
    return trained;
  }

  void BeginRound(const RoundStart& start, NamedTensors& local) override {
    OneNetwork::BeginRound(start, local);
    Renormalize();  // a mean of unit rows is shorter
    used_ = torch::zeros({options_.prototypes}, torch::kBool);
  }

  // Both views go through the network in one pass of 2B, as in SwAV; codes are made of each view
  // alone. Prototypes have no gradient in the first epoch of the run: SGD leaves them as they are.
  at::Tensor Loss(const Batch& batch, NamedTensors&) override {
    const bool frozen = batch.key.round == 0 && batch.key.epoch == 0;
    const auto z = model_(torch::cat({batch.first, batch.second}));  // [2B, D]
    const auto prototypes = frozen ? prototypes_->weight.detach() : prototypes_->weight;
    const auto scores = torch::mm(z, prototypes.t()).chunk(2);  // [B, P] each
    const auto codes = [&](const at::Tensor& each) {
      return Sinkhorn(each, options_.epsilon, options_.iterations);
    };
    const auto loss =
        SwappedPrediction(scores[0], scores[1], codes(scores[0]), codes(scores[1]), options_.tau);
    numbers_.Saw(z);
    numbers_.Count("loss_over_chance", loss.item<double>() / std::log(options_.prototypes));
    for (const auto& each : scores) used_.index_fill_(0, each.argmax(1), true);
    return loss;
  }

  void AfterStep(NamedTensors&) override { Renormalize(); }

  Metrics EndRound(NamedTensors& local) override {
    Metrics metrics = OneNetwork::EndRound(local);
    metrics["prototypes_used"] = static_cast<double>(used_.sum().item<int64_t>());
    return metrics;
  }

 private:
  void Renormalize() {
    torch::NoGradGuard no_gradient;
    prototypes_->weight.copy_(torch::nn::functional::normalize(prototypes_->weight));
  }

  SwavOptions options_;
  torch::nn::Linear prototypes_;
  at::Tensor used_;  // [P]: prototypes that were nearest to some view of the round under way
};

}  // namespace

std::unique_ptr<Method> MakeSwav(const MethodContext& context) {
  return std::make_unique<Swav>(context);
}

}  // namespace kindred

#include "method/swav.h"

#include <torch/torch.h>

#include <cmath>

#include "loss/sinkhorn.h"
#include "loss/swapped_prediction.h"
#include "method/round_numbers.h"
#include "model/network.h"

namespace kindred {
namespace {

class Swav : public Method {
 public:
  explicit Swav(const MethodContext& context)
      : options_(context.method.swav),
        network_(context.model, context.channels, ProjectorOptions{.norm = true}),
        prototypes_(torch::nn::LinearOptions(context.model.dim, options_.prototypes).bias(false)) {
    Initialize(*network_, context.seed);
    Initialize(*prototypes_, context.seed, network_->parameters().size());
    Renormalize();
    network_->train();
  }

  NamedTensors Shared() const override {
    NamedTensors tensors = TensorsOf(*network_);
    AddUnder(tensors, "prototypes", OwnTensorsOf(*prototypes_));
    return tensors;
  }

  std::string EncoderPrefix() const override { return "encoder"; }

  std::vector<at::Tensor> Trained() const override {
    auto trained = network_->parameters();
    trained.push_back(prototypes_->weight);
    return trained;
  }

  NamedTensors NewLocalState() const override { return {}; }

  void BeginRound(const RoundStart&, NamedTensors&) override {
    Renormalize();  // a mean of unit rows is shorter
    numbers_.Begin();
    used_ = torch::zeros({options_.prototypes}, torch::kBool);
  }

  // Both views go through the network in one pass of 2B, as in SwAV; codes are made of each view
  // alone. Prototypes have no gradient in the first epoch of the run: SGD leaves them as they are.
  at::Tensor Loss(const Batch& batch, NamedTensors&) override {
    const bool frozen = batch.key.round == 0 && batch.key.epoch == 0;
    const auto z = network_(torch::cat({batch.first, batch.second}));  // [2B, D]
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

  Metrics EndRound(NamedTensors&) override {
    Metrics metrics = numbers_.End();
    metrics["prototypes_used"] = static_cast<double>(used_.sum().item<int64_t>());
    return metrics;
  }

 private:
  void Renormalize() {
    torch::NoGradGuard no_gradient;
    prototypes_->weight.copy_(torch::nn::functional::normalize(prototypes_->weight));
  }

  SwavOptions options_;
  Network network_;
  torch::nn::Linear prototypes_;
  // Of the round under way.
  RoundNumbers numbers_;
  at::Tensor used_;  // [P]: prototypes that were nearest to some view
};

}  // namespace

std::unique_ptr<Method> MakeSwav(const MethodContext& context) {
  CheckBatchNorm(context);
  return std::make_unique<Swav>(context);
}

}  // namespace kindred

#include "method/simclr.h"

#include <torch/torch.h>

#include "loss/nt_xent.h"
#include "method/round_numbers.h"
#include "model/network.h"

namespace kindred {
namespace {

class Simclr : public Method {
 public:
  explicit Simclr(const MethodContext& context)
      : tau_(context.method.simclr.tau),
        network_(context.model, context.channels, ProjectorOptions{.norm = true}) {
    Initialize(*network_, context.seed);
    network_->train();
  }

  NamedTensors Shared() const override { return TensorsOf(*network_); }
  std::string EncoderPrefix() const override { return "encoder"; }
  std::vector<at::Tensor> Trained() const override { return network_->parameters(); }
  NamedTensors NewLocalState() const override { return {}; }
  void BeginRound(const RoundStart&, NamedTensors&) override { numbers_.Begin(); }

  // Both views go through the network in one pass of 2B, as in SimCLR: batch norm sees them
  // together.
  at::Tensor Loss(const Batch& batch, NamedTensors&) override {
    const auto z = network_(torch::cat({batch.first, batch.second}));  // [2B, D]
    numbers_.Saw(z);
    return NtXent(z, torch::empty({0, z.size(1)}), tau_);
  }

  void AfterStep(NamedTensors&) override {}
  Metrics EndRound(NamedTensors&) override { return numbers_.End(); }

 private:
  double tau_;
  Network network_;
  RoundNumbers numbers_;  // of the round under way
};

}  // namespace

std::unique_ptr<Method> MakeSimclr(const MethodContext& context) {
  CheckBatchNorm(context);
  return std::make_unique<Simclr>(context);
}

}  // namespace kindred

#include "method/fedema.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "method/byol.h"

namespace kindred {
namespace {

// |a - b| over the parameters of the online network, encoder and projector.
double Divergence(const NamedTensors& a, const NamedTensors& b) {
  double sum = 0;
  for (const auto& [name, tensor] : a) {
    const bool parameter = tensor.is_floating_point() && name.find(".running_") == name.npos;
    if (!parameter || name.starts_with("predictor/")) continue;
    sum += (tensor - b.at(name)).to(torch::kDouble).square().sum().item<double>();
  }
  return std::sqrt(sum);
}

class Fedema : public Byol {
 public:
  explicit Fedema(const MethodContext& context)
      : Byol(context), tau_(context.method.Of<FedemaOptions>().tau) {}

  void BeginRound(const RoundStart& start, NamedTensors& local) override {
    const NamedTensors own = Under(local, "own");
    const Merge merge = own.empty() ? Merge{} : MergeWith(own, local);
    Byol::BeginRound(start, local);
    if (own.empty()) return;
    numbers_.Count("own_share", merge.mu);
    numbers_.Count("divergence", merge.divergence);
  }

  Metrics EndRound(NamedTensors& local) override {
    for (const auto& [name, tensor] : Clone(Shared())) local["own/" + name] = tensor;
    return Byol::EndRound(local);
  }

 private:
  struct Merge {
    double divergence = 0, mu = 0;
  };

  // W <- mu W_own + (1 - mu) W_global for the online network and the predictor, running statistics
  // included; counters stay the global ones. The autoscaler makes the client's first mu tau.
  Merge MergeWith(const NamedTensors& own, NamedTensors& local) const {
    torch::NoGradGuard no_gradient;
    const NamedTensors model = Shared();
    Merge merge = {.divergence = Divergence(model, own)};
    if (merge.divergence == 0) return merge;
    if (!local.contains("lambda")) {
      local["lambda"] = torch::full({1}, tau_ / merge.divergence, torch::kFloat);
    }
    merge.mu = OwnShare(local.at("lambda").item<float>(), merge.divergence);
    for (const auto& [name, tensor] : model) {
      if (tensor.is_floating_point()) tensor.mul_(1 - merge.mu).add_(own.at(name), merge.mu);
    }
    return merge;
  }

  double tau_;
};

}  // namespace

double OwnShare(double lambda, double divergence) { return std::min(lambda * divergence, 1.0); }

std::unique_ptr<Method> MakeFedema(const MethodContext& context) {
  CheckBatchNorm(context);
  return std::make_unique<Fedema>(context);
}

}  // namespace kindred

#include "server/server_optimizer.h"

#include <torch/torch.h>

#include <algorithm>

#include "base/error.h"

namespace kindred {
namespace {

// Larger values than this are refused wherever a model comes from outside.
constexpr double kMostValue = 1 << 20;

// What an optimiser keeps of one tensor, in double while it steps.
struct Moments {
  at::Tensor m, v;
};

// Each returns what is added to theta, divided by lr.
at::Tensor Momentum(const OptimizerOptions& options, const at::Tensor& delta, Moments& at) {
  at.m = options.momentum * at.m + delta;
  return at.m;
}

at::Tensor Adaptive(const OptimizerOptions& options, const at::Tensor& delta, Moments& at) {
  at.m = options.momentum * at.m + (1 - options.momentum) * delta;
  return at.m / (at.v.sqrt() + options.adaptivity);
}

at::Tensor Adam(const OptimizerOptions& options, const at::Tensor& delta, Moments& at) {
  at.v = options.second_momentum * at.v + (1 - options.second_momentum) * delta.square();
  return Adaptive(options, delta, at);
}

at::Tensor Yogi(const OptimizerOptions& options, const at::Tensor& delta, Moments& at) {
  const auto square = delta.square();
  at.v = at.v - (1 - options.second_momentum) * square * (at.v - square).sign();
  return Adaptive(options, delta, at);
}

// How each optimiser of the table in optimizer_kinds.cc steps; "none" does not.
struct Stepper {
  const char* name;
  at::Tensor (*step)(const OptimizerOptions& options, const at::Tensor& delta, Moments& at);
};

constexpr Stepper kSteppers[] = {{"momentum", Momentum}, {"adam", Adam}, {"yogi", Yogi}};

// A tensor of the state in double; where there is none yet, filled with `first`.
at::Tensor Kept(const NamedTensors& state, const std::string& name, const at::Tensor& like,
                double first) {
  const auto found = state.find(name);
  if (found == state.end()) return torch::full_like(like, first, torch::kDouble);
  return found->second.to(torch::kDouble);
}

}  // namespace

void StepServer(const OptimizerOptions& options, const NamedTensors& theta,
                const std::vector<std::string>& trained, NamedTensors& mean, NamedTensors& state) {
  const OptimizerKind& kind = OptimizerNamed(options.optimizer);
  const auto* stepper =
      std::find_if(std::begin(kSteppers), std::end(kSteppers),
                   [&](const Stepper& each) { return each.name == options.optimizer; });
  if (stepper == std::end(kSteppers)) {
    Check(kind.moments == 0, "an optimiser of the table without its step");
    return;
  }
  torch::NoGradGuard no_gradient;
  const bool second = kind.moments > 1;
  const double lr = options.lr > 0 ? options.lr : kind.usual_rate;
  for (const auto& name : trained) {
    const auto before = theta.at(name).to(torch::kDouble);
    const auto delta = mean.at(name).to(torch::kDouble) - before;
    Moments moments = {Kept(state, "m/" + name, delta, 0), {}};
    if (second) {
      moments.v = Kept(state, "v/" + name, delta, options.adaptivity * options.adaptivity);
    }
    const auto next = before + lr * stepper->step(options, delta, moments);
    if (!(next.abs() < kMostValue).all().item<bool>()) {
      throw UsageError("server.optimizer = {}: {} diverged; start again with a lower server.lr",
                       options.optimizer, name);
    }
    mean[name] = next.to(theta.at(name).scalar_type());
    state["m/" + name] = moments.m.to(torch::kFloat);
    if (second) state["v/" + name] = moments.v.to(torch::kFloat);
  }
}

}  // namespace kindred

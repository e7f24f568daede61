#include "method/method.h"

#include <algorithm>

#include "base/error.h"
#include "method/ccl.h"
#include "method/supervised.h"

namespace kindred {
namespace {

// The table: help texts, `kindred list` and the tests go through it.
constexpr MethodKind kKinds[] = {
    {"ccl", "collaborative contrastive learning: feature fusion and neighborhood matching (paper)",
     MakeCcl},
    {"moco", "momentum contrast with local negatives (He et al. 2020); one client: centralized",
     MakeMoco},
    {"supervised", "FedAvg with every label (McMahan et al. 2017), an upper bound", MakeSupervised},
};

}  // namespace

void Bind(Config& config, MethodOptions& options) {
  std::vector<std::string> names;
  for (const auto& kind : kKinds) names.emplace_back(kind.name);
  config.Bind("method.name", &options.name, "how clients learn: kindred list methods",
              {.choices = names});
  config.Bind("ccl.negatives", &options.ccl.negatives,
              "what is contrasted with: others' features, one's own bank, or both",
              {.choices = {"remote", "union", "local"}});
  config.Bind("ccl.bank", &options.ccl.bank, "K: keys in the local bank, and features shared",
              {.least = 1, .most = 1 << 20});
  config.Bind("ccl.neighbors", &options.ccl.neighbors, "N: neighbours a query is matched to",
              {.least = 1, .most = 1 << 20});
  config.Bind("ccl.tau", &options.ccl.tau, "temperature of the contrastive loss",
              {.least = 1e-3, .most = 100});
  config.Bind("ccl.tau_nm", &options.ccl.tau_nm, "temperature of neighborhood matching",
              {.least = 1e-3, .most = 100});
  config.Bind("ccl.lambda", &options.ccl.lambda, "weight of neighborhood matching; 0: none",
              {.least = 0, .most = 1000});
  config.Bind("ccl.warmup", &options.ccl.warmup,
              "share of the rounds over which lambda rises from 0", {.least = 0, .most = 1});
  config.Bind("ccl.encoded", &options.ccl.encoded,
              "weight of training on encodings of the batch's images; 0: none",
              {.least = 0, .most = 1000});
  config.Bind("ccl.momentum", &options.ccl.momentum, "m: how slowly the momentum model follows",
              {.least = 0, .most = 1});
}

at::Tensor Method::FeaturesOf(const at::Tensor&) {
  Check(false, "features of a method that shares none");
  return {};
}

std::span<const MethodKind> MethodKinds() { return kKinds; }

std::unique_ptr<Method> MakeMethod(const MethodContext& context) {
  const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const MethodKind& each) {
    return each.name == context.method.name;
  });
  if (kind == std::end(kKinds)) {
    throw UsageError("method.name = {}: no such method", Printable(context.method.name));
  }
  return kind->make(context);
}

}  // namespace kindred

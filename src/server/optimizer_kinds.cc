#include "server/optimizer_kinds.h"

#include <algorithm>
#include <vector>

#include "base/error.h"

namespace kindred {
namespace {

constexpr OptimizerKind kKinds[] = {
    {"none", "McMahan et al., AISTATS 2017", "the round's mean is the next model", 1, 0},
    {"momentum", "Hsu et al., 2019", "FedAvgM: goes on in the direction of earlier rounds", 1, 1},
    {"adam", "Reddi et al., ICLR 2021", "FedAdam: a step size for each value, by its past updates",
     0.01, 2},
    {"yogi", "Reddi et al., ICLR 2021", "FedYogi: as adam, its step sizes change more slowly", 0.01,
     2},
};

}  // namespace

void Bind(Config& config, OptimizerOptions& options) {
  std::vector<std::string> names;
  for (const auto& kind : kKinds) names.emplace_back(kind.name);
  config.Bind("server.optimizer", &options.optimizer,
              "how the server steps towards a round's mean; `kindred list optimizers` "
              "names them",
              {.choices = names});
  config.Bind(
      "server.lr", &options.lr,
      "learning rate of the server's optimiser; 0: 1 with momentum, 0.01 with adam and yogi",
      {.least = 0, .most = 1000});
  config.Bind("server.momentum", &options.momentum,
              "how much of the earlier rounds' steps the server's optimiser keeps",
              {.least = 0, .most = 0.9999});
  config.Bind("server.second_momentum", &options.second_momentum,
              "adam, yogi: how much of the earlier rounds' squared updates is kept",
              {.least = 0, .most = 0.9999});
  config.Bind(
      "server.adaptivity", &options.adaptivity,
      "adam, yogi: updates below this size are not scaled up; raise it when training is unsteady",
      {.least = 1e-9, .most = 1000});
}

std::span<const OptimizerKind> OptimizerKinds() { return kKinds; }

const OptimizerKind& OptimizerNamed(const std::string& name) {
  const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds),
                                 [&](const OptimizerKind& each) { return each.name == name; });
  if (kind == std::end(kKinds)) {
    throw UsageError("server.optimizer = {}: no such optimiser", Printable(name));
  }
  return *kind;
}

}  // namespace kindred

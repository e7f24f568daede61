#include "run/fit.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "aggregate/rule.h"
#include "base/error.h"
#include "server/client_sampling.h"
#include "server/peak_memory.h"

namespace kindred {

std::optional<std::string> TooFewImagesWarning(const Method& method, const Partition& partition) {
  const auto alone =
      std::ranges::count(partition.clients, size_t{1}, [](const auto& own) { return own.size(); });
  if (!method.NormsFeatures() || alone == 0) return std::nullopt;
  return fmt::format(
      "{} of {} clients have one image and learn nothing from it: the method's batch norm needs "
      "two; use fewer clients or more images",
      alone, partition.Clients());
}

void CheckCoordinator(const Experiment& experiment, const Method& method, int enrolled) {
  const int least = RuleNamed(experiment.rule.rule).least_clients(experiment.rule);
  if (experiment.coordinator.min_clients < least) {
    throw UsageError(
        "server.rule = {} needs {} updates in every round, server.min_clients = {} promises fewer; "
        "raise it, or take another rule",
        experiment.rule.rule, least, experiment.coordinator.min_clients);
  }
  const int asked_for = ClientsInRound(enrolled, experiment.train.participation);
  if (asked_for < experiment.coordinator.min_clients) {
    throw UsageError(
        "train.participation = {} of {} enrolled clients asks {} of them, server.min_clients = {}; "
        "raise the first or lower the second",
        experiment.train.participation, enrolled, asked_for, experiment.coordinator.min_clients);
  }
  const auto values = BytesOf(method.Shared()) / sizeof(float);
  const auto asked =
      std::min(enrolled, static_cast<int>(std::ceil(enrolled * experiment.train.participation *
                                                    (1 + experiment.coordinator.over_selection))));
  const uint64_t need = PeakMemory(
      {.values = values,
       .rule = experiment.rule,
       .optimizer = experiment.optimizer,
       .clients = static_cast<uint64_t>(enrolled),
       .in_round = static_cast<uint64_t>(std::max(asked, 1)),
       .held_back = static_cast<uint64_t>(MostCut(SharesOf(experiment.limits))),
       .features = static_cast<uint64_t>(method.FeaturesToShare()),
       .features_width = static_cast<uint64_t>(experiment.model.dim),
       .max_remote = static_cast<uint64_t>(experiment.features.max_remote),
       .upload_budget = static_cast<uint64_t>(experiment.coordinator.upload_memory) << 20});
  const uint64_t limit = experiment.coordinator.memory > 0
                             ? static_cast<uint64_t>(experiment.coordinator.memory) << 20
                             : static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                                   static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  if (need > limit) {
    throw UsageError(
        "{} clients of this model may need {} MB, {} allows {} MB; lower server.upload_memory or "
        "features.max_remote, take server.rule = \"mean\", or raise server.memory",
        enrolled, need >> 20, experiment.coordinator.memory > 0 ? "server.memory" : "this machine",
        limit >> 20);
  }
}

}  // namespace kindred

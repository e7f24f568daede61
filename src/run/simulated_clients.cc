#include "run/simulated_clients.h"

#include <algorithm>

#include "aggregate/rule.h"
#include "base/error.h"
#include "base/parallel.h"
#include "kernel/kernel_path.h"
#include "model/library_kernels.h"
#include "privacy/mechanism_kinds.h"
#include "run/monitor.h"
#include "run/setup.h"
#include "server/client_sampling.h"
#include "server/round_loop.h"

namespace kindred {
namespace {

// Clients' states that do not fit into memory: beside the run's files, in a folder for each rank.
std::filesystem::path ScratchOf(const RunDir& dir, int rank) {
  return rank == 0 ? dir.scratch() : dir.scratch() / fmt::format("rank-{}", rank);
}

// Threads that train at a time: no more than there are clients for them.
int WorkersOf(const Experiment& experiment, const RankOf& rank_of, int rank) {
  const int all = static_cast<int>(std::ssize(rank_of));
  const int own = static_cast<int>(std::count(rank_of.begin(), rank_of.end(), rank));
  return std::min({WorkerCount(experiment.train.workers),
                   ClientsInRound(all, experiment.train.participation), std::max(1, own)});
}

}  // namespace

const char* KernelsOf(const std::string& engine) {
  if (engine == "torch") return "libtorch";
  return BestKernelPath() == KernelPath::kAvx2 ? "avx2" : "portable";
}

SimulatedClients::SimulatedClients(const Experiment& options, const RunDir& dir, int rank,
                                   int ranks)
    : experiment(options),
      dataset(LoadDataset(options.data)),
      partition(MakePartition(dataset, options.partition)),
      rank_of(DealClients(partition, ranks)),
      context(ContextOf(options, ImageKindOf(dataset))),
      workers(WorkersOf(options, rank_of, rank)),
      store(static_cast<uint64_t>(options.train.memory) << 20, ScratchOf(dir, rank)) {
  foundation =
      MakeFoundation(context, options.data.name, rank == 0 ? dir.path() : std::filesystem::path());
  context.foundation = foundation;
  method = MakeFittingMethod(context);
  CheckRule(options.rule, ClientsInRound(partition.Clients(), options.train.participation));
  for (int client = 0; method->FeaturesToShare() > 0 && client < partition.Clients(); ++client) {
    const auto images = std::ssize(partition.clients[static_cast<size_t>(client)]);
    if (const auto why = TooFewImages(options.privacy, images)) {
      throw UsageError(
          "client {} has {}; use fewer clients or more images, or a method that shares no features",
          client, *why);
    }
  }
  LimitTestImages(dataset, options.eval);
}

InProcess SimulatedClients::MakeTransport(RoundHooks hooks) {
  if (!dataset.train.labels.empty()) {
    observer_.emplace(LabeledClients{.data = dataset.train,
                                     .partition = partition,
                                     .classes = dataset.Classes(),
                                     .privacy = experiment.privacy,
                                     .shared = method->FeaturesToShare(),
                                     .seed = experiment.train.seed});
    hooks.observe = [this](int client, const RemoteFeatures& remote) {
      return observer_->Observe(client, remote);
    };
  }
  if (foundation) foundation->Make(hooks.stop);
  return InProcess({.data = dataset.train,
                    .partition = partition,
                    .method = context,
                    .options = ClientOptionsOf(experiment, dataset.normalization),
                    .store = store},
                   workers, hooks, WorkerCount(experiment.train.workers));
}

RoundLoopOptions SimulatedClients::Rounds() const {
  RoundLoopOptions rounds = RoundsOf(experiment, *method);
  rounds.images_of = [this](int client) {
    return std::ssize(partition.clients[static_cast<size_t>(client)]);
  };
  return rounds;
}

std::vector<std::pair<std::string, std::string>> SimulatedClients::Facts(
    const std::string& config_hash) const {
  return {{"version", KINDRED_VERSION},
          {"configuration", config_hash},
          {"data", DataHash(dataset)},
          {"public data", foundation ? foundation->DataHash() : ""},
          {"partition", PartitionHash(partition)},
          {"kernels",
           fmt::format("{} {}", KernelsOf(experiment.model.engine), LibraryKernels().dump())}};
}

}  // namespace kindred

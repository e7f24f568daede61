#include "run/simulation.h"

#include <unistd.h>

#include <chrono>

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "privacy/mechanism_kinds.h"
#include "ranks/rank_rounds.h"
#include "run/fit.h"
#include "run/page_parts.h"
#include "run/round_driver.h"
#include "run/run_summary.h"
#include "run/setup.h"

namespace kindred {
namespace {

// Without a terminal a round is one line, at its end; a longer round than this says in between that
// it goes on.
constexpr auto kSignOfLife = std::chrono::minutes(5);

std::string HostName() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

Simulation::Simulation(const Experiment& experiment, const std::string& config_hash,
                       const RunDir& dir, Ranks* ranks)
    : experiment_(experiment),
      dir_(dir),
      ranks_(ranks),
      clients_(experiment, dir, 0, ranks ? ranks->Size() : 1),
      record_(dir, {config_hash, DataHash(clients_.dataset), PartitionHash(clients_.partition)},
              experiment.train.rounds, InputOf(clients_.dataset)) {
  if (ranks) CheckSame(*ranks, clients_.Facts(config_hash), HostName());
}

void Simulation::Start() {
  const MechanismKind& mechanism = MechanismOf(experiment_.privacy);
  if (clients_.method->FeaturesToShare() > 0 && !mechanism.travels) {
    spdlog::warn("privacy.features = \"{}\": clients share {}", mechanism.name, mechanism.summary);
  }
  if (const auto why = TooFewImagesWarning(*clients_.method, clients_.partition)) {
    spdlog::warn("{}", *why);
  }
  record_.Start(clients_.method->Shared(), clients_.store);
  WritePagePart(dir_, "clients", [&] { return ClientsPart(clients_.partition, clients_.dataset); });
  WritePagePart(dir_, "samples",
                [&] { return SamplesPart(experiment_, clients_.dataset, clients_.partition); });
}

// Training images still to be seen, as the progress bar expects them.
uint64_t Simulation::ImagesLeft() const {
  const auto& train = experiment_.train;
  int64_t round = 0;
  for (const auto& own : clients_.partition.clients) {
    const auto count = static_cast<int64_t>(own.size());
    round += count < train.batch ? count : count / train.batch * train.batch;
  }
  return static_cast<uint64_t>(static_cast<double>(round * train.epochs) * train.participation *
                               (train.rounds - record_.NextRound()) /
                               (ranks_ ? ranks_->Size() : 1));
}

void Simulation::Train(const std::atomic<bool>& stop) {
  const auto& train = experiment_.train;
  RoundDriver driver(experiment_, *clients_.method, dir_, record_,
                     {.dataset = &clients_.dataset,
                      .partition = &clients_.partition,
                      .input = InputOf(clients_.dataset)});
  if (!record_.Finished()) driver.Begin(stop);
  Progress progress("training", ImagesLeft(), "images", {.plain = kSignOfLife});
  uint64_t seen = 0;
  InProcess own = clients_.MakeTransport({.stop = &stop, .on_step = [&](int images) {
                                            progress.At(seen += static_cast<uint64_t>(images));
                                          }});
  std::optional<RankTransport> all;
  if (ranks_) all.emplace(*ranks_, clients_.rank_of, own, clients_.store, record_.Server());
  RoundLoopOptions rounds = clients_.Rounds();
  rounds.first = record_.NextRound();
  Transport& transport = all ? static_cast<Transport&>(*all) : own;
  RunRounds(rounds, transport, record_.Server(), [&](const RoundReport& report) {
    progress.Clear();
    driver.EndRound(report);
    record_.Save(report.round + 1, clients_.store);
    const auto& knn = record_.Sums().last_knn;
    std::vector<std::string> status = {fmt::format("round {}/{}", report.round + 1, train.rounds),
                                       fmt::format("loss {:.3f}", report.loss)};
    if (knn) status.push_back(fmt::format("kNN {:.2f} %", 100 * *knn));
    progress.Say(
        std::move(status),
        fmt::format("{:.0f} images/s", static_cast<double>(report.images) / report.seconds));
  });
  if (all) all->End();
}

Json Simulation::Summary() const {
  const RunIdentity& identity = record_.Identity();
  Json summary = ToJson(RunSummary{.kind = RunKind::kSimulation,
                                   .experiment = experiment_,
                                   .method = *clients_.method,
                                   .model = record_.Global(),
                                   .clients = static_cast<size_t>(clients_.partition.Clients()),
                                   .sums = record_.Sums(),
                                   .config_hash = identity.config});
  summary["cpu_seconds"] = record_.Sums().cpu_seconds;
  summary["workers"] = clients_.workers;
  summary["ranks"] = ranks_ ? ranks_->Size() : 1;
  summary["kernels"] = KernelsOf(experiment_.model.engine);
  summary["data_hash"] = identity.data;
  summary["partition_hash"] = identity.partition;
  summary["knn"] = {{"k", experiment_.eval.k},
                    {"t", experiment_.eval.t},
                    {"test_images", clients_.dataset.test.images.count}};
  if (ranks_) {
    summary["rank_seconds"] = {{"talking", ranks_->Talking()}, {"waiting", ranks_->Waiting()}};
  }
  return summary;
}

void FollowSimulation(const Experiment& experiment, const std::string& config_hash,
                      const RunDir& dir, Ranks& ranks, const std::atomic<bool>& stop) {
  SimulatedClients clients(experiment, dir, ranks.Rank(), ranks.Size());
  CheckSame(ranks, clients.Facts(config_hash), HostName());
  InProcess own = clients.MakeTransport({.stop = &stop});
  FollowRounds(ranks, clients.rank_of, clients.Rounds(), own, clients.store);
}

}  // namespace kindred

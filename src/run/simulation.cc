#include "run/simulation.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "aggregate/rule.h"
#include "base/error.h"
#include "base/log.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "eval/false_negatives.h"
#include "kernel/kernel_path.h"
#include "model/library_kernels.h"
#include "model/safetensors.h"
#include "partition/deal.h"
#include "privacy/mechanism_kinds.h"
#include "run/fit.h"
#include "run/monitor.h"
#include "run/page_parts.h"
#include "run/round_driver.h"
#include "run/run_summary.h"
#include "run/setup.h"
#include "server/client_sampling.h"

namespace kindred {
namespace {

// Without a terminal a round is one line, at its end; a longer round than this says in between that
// it goes on.
constexpr auto kSignOfLife = std::chrono::minutes(5);

// What a digest depends on beside the configuration: the kind of code that ran.
const char* KernelsOf(const std::string& engine) {
  if (engine == "torch") return "libtorch";
  return BestKernelPath() == KernelPath::kAvx2 ? "avx2" : "portable";
}

// Clients' states that do not fit into memory: beside the run's files, in a folder for each rank.
std::filesystem::path ScratchOf(const RunDir& dir, const Ranks& ranks) {
  return ranks.Leads() ? dir.scratch() : dir.scratch() / fmt::format("rank-{}", ranks.Rank());
}

int OwnClients(const std::vector<int>& rank_of, int rank) {
  return static_cast<int>(std::count(rank_of.begin(), rank_of.end(), rank));
}

std::string HostName() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

Simulation::Simulation(const Experiment& experiment, const std::string& config_hash,
                       const RunDir& dir, Ranks& ranks)
    : experiment_((CheckBatch(experiment), experiment)),
      dir_(dir),
      ranks_(ranks),
      dataset_(LoadDataset(experiment.data)),
      partition_(MakePartition(dataset_, experiment.partition)),
      rank_of_(DealClients(partition_, ranks.Size())),
      context_(ContextOf(experiment, ImageKindOf(dataset_))),
      workers_(std::min({WorkerCount(experiment.train.workers),
                         ClientsInRound(partition_.Clients(), experiment.train.participation),
                         std::max(1, OwnClients(rank_of_, ranks.Rank()))})),
      store_(static_cast<uint64_t>(experiment.train.memory) << 20, ScratchOf(dir, ranks)),
      record_(dir, {config_hash, DataHash(dataset_), PartitionHash(partition_)},
              experiment.train.rounds, InputOf(dataset_)) {
  foundation_ = MakeFoundation(context_, experiment.data.name,
                               ranks.Leads() ? dir.path() : std::filesystem::path());
  context_.foundation = foundation_;
  method_ = MakeFittingMethod(context_);
  CheckRule(experiment.rule, ClientsInRound(partition_.Clients(), experiment.train.participation));
  for (int client = 0; method_->FeaturesToShare() > 0 && client < partition_.Clients(); ++client) {
    CheckEnoughImages(experiment.privacy, client,
                      std::ssize(partition_.clients[static_cast<size_t>(client)]));
  }
  LimitTestImages(dataset_, experiment.eval);
  CheckRanks();
}

// One digest needs one program, one configuration, the same data and the same kind of CPU.
void Simulation::CheckRanks() const {
  if (ranks_.Alone()) return;
  const auto& identity = record_.Identity();
  const std::vector<std::pair<const char*, std::string>> own = {
      {"version", KINDRED_VERSION},
      {"configuration", identity.config},
      {"data", identity.data},
      {"partition", identity.partition},
      {"kernels",
       fmt::format("{} {}", KernelsOf(experiment_.model.engine), LibraryKernels().dump())},
      {"host", HostName()}};
  const std::string text = Json(own).dump();
  const auto all = ranks_.Gather(Bytes(text.begin(), text.end()));
  for (size_t rank = 1; rank < all.size(); ++rank) {
    const Json theirs = Json::parse(all[rank].begin(), all[rank].end());
    for (size_t i = 0; i + 1 < own.size(); ++i) {
      if (theirs[i][1] == own[i].second) continue;
      throw UsageError("rank {} on {} has another {} than rank 0 on {}: {}, not {}", rank,
                       Printable(theirs.back()[1].get<std::string>()), own[i].first,
                       own.back().second, Printable(theirs[i][1].get<std::string>()),
                       own[i].second);
    }
  }
}

void Simulation::Start() {
  const MechanismKind& mechanism = MechanismOf(experiment_.privacy);
  if (ranks_.Leads() && method_->FeaturesToShare() > 0 && !mechanism.travels) {
    spdlog::warn("privacy.features = \"{}\": clients share {}", mechanism.name, mechanism.summary);
  }
  if (const auto why = WhyTooFewImages(*method_, partition_); why && ranks_.Leads()) {
    spdlog::warn("{}", *why);
  }
  if (ranks_.Leads()) {
    record_.Start(method_->Shared(), store_);
    WritePagePart(dir_, "clients", [&] { return ClientsPart(partition_, dataset_); });
    WritePagePart(dir_, "samples", [&] { return SamplesPart(experiment_, dataset_, partition_); });
  }
  ShareStart();
}

// What rank 0 found becomes where every rank begins, each with the states of its own clients.
void Simulation::ShareStart() {
  if (ranks_.Alone()) return;
  Bytes start;
  if (ranks_.Leads()) {
    Safetensors all;
    AddUnder(all.tensors, "global", record_.Global());
    AddUnder(all.tensors, "pool", record_.Server().pool.ToTensors());
    const UsualDelta& usual = record_.Server().usual;
    all.metadata = {{"next_round", std::to_string(record_.NextRound())},
                    {"usual", Json{usual.norm, usual.steps}.dump()},
                    {"clients", Json(store_.Clients()).dump()}};
    start = SerializeSafetensors(all);
  }
  ranks_.Broadcast(start);
  const Safetensors all = ParseSafetensors(start, "rank 0");
  const Json clients = Json::parse(all.metadata.at("clients"));
  for (const int client : clients) {
    const int rank = rank_of_[static_cast<size_t>(client)];
    if (rank == 0) continue;
    if (ranks_.Leads()) {
      store_.With(client, [&](const NamedTensors& state) {
        ranks_.Send(rank, SerializeSafetensors({.tensors = state}));
      });
    } else if (IsOwn(client)) {
      store_.Put(client, ParseSafetensors(ranks_.Receive(0), "a state").tensors);
    }
  }
  if (ranks_.Leads()) return;
  next_round_ = std::stoi(all.metadata.at("next_round"));
  const Json usual = Json::parse(all.metadata.at("usual"));
  follower_.global = Under(all.tensors, "global");
  follower_.pool = FeaturePool::FromTensors(Under(all.tensors, "pool"));
  follower_.usual = {usual[0], usual[1]};
}

// The states of these clients come to rank 0, which saves them.
void Simulation::BringStates(const std::vector<int>& clients) {
  for (const int client : clients) {
    const int rank = rank_of_[static_cast<size_t>(client)];
    if (rank == 0) continue;
    if (ranks_.Leads()) {
      store_.Put(client, ParseSafetensors(ranks_.Receive(rank), "a state").tensors);
    } else if (IsOwn(client)) {
      store_.With(client, [&](const NamedTensors& state) {
        ranks_.Send(0, SerializeSafetensors({.tensors = state}));
      });
    }
  }
}

// Training images still to be seen, as the progress bar expects them.
uint64_t Simulation::ImagesLeft() const {
  const auto& train = experiment_.train;
  int64_t round = 0;
  for (const auto& own : partition_.clients) {
    const auto count = static_cast<int64_t>(own.size());
    round += count < train.batch ? count : count / train.batch * train.batch;
  }
  return static_cast<uint64_t>(static_cast<double>(round * train.epochs) * train.participation *
                               (train.rounds - record_.NextRound()) / ranks_.Size());
}

void Simulation::Train(const std::atomic<bool>& stop) {
  const auto& train = experiment_.train;
  const int first = ranks_.Leads() ? record_.NextRound() : next_round_;
  if (first >= train.rounds) return;
  RoundDriver driver(experiment_, *method_, dir_, record_,
                     {.dataset = &dataset_, .partition = &partition_, .input = InputOf(dataset_)});
  if (ranks_.Leads()) driver.Begin(stop);
  Progress progress("training", ranks_.Leads() ? ImagesLeft() : 0, "images",
                    {.plain = kSignOfLife});
  uint64_t seen = 0;
  RoundHooks hooks = {.stop = &stop, .on_step = [&](int images) {
                        if (ranks_.Leads()) progress.At(seen += static_cast<uint64_t>(images));
                      }};
  std::optional<FalseNegatives> observer;
  if (!dataset_.train.labels.empty()) {
    observer.emplace(LabeledClients{.data = dataset_.train,
                                    .partition = partition_,
                                    .classes = dataset_.Classes(),
                                    .privacy = experiment_.privacy,
                                    .shared = method_->FeaturesToShare(),
                                    .seed = train.seed});
    hooks.observe = [&](int client, const RemoteFeatures& remote) {
      return observer->Observe(client, remote);
    };
  }
  if (foundation_) foundation_->Make(&stop);
  InProcess transport({.data = dataset_.train,
                       .partition = partition_,
                       .method = context_,
                       .options = ClientOptionsOf(experiment_, dataset_.normalization),
                       .store = store_},
                      workers_, hooks, WorkerCount(train.workers));
  RoundLoopOptions rounds = RoundsOf(experiment_, *method_);
  rounds.first = first;
  rounds.images_of = [&](int client) {
    return std::ssize(partition_.clients[static_cast<size_t>(client)]);
  };
  rounds.ranks = &ranks_;
  rounds.rank_of = [&](int client) { return rank_of_[static_cast<size_t>(client)]; };
  ServerState& state = ranks_.Leads() ? record_.Server() : follower_;
  RunRounds(rounds, transport, state, [&](const RoundReport& report) {
    if (!ranks_.Alone()) BringStates(report.who);
    if (!ranks_.Leads()) return;
    progress.Clear();
    driver.EndRound(report, stop);
    record_.Save(report.round + 1, store_);
    const auto& knn = record_.Sums().last_knn;
    std::vector<std::string> status = {fmt::format("round {}/{}", report.round + 1, train.rounds),
                                       fmt::format("loss {:.3f}", report.loss)};
    if (knn) status.push_back(fmt::format("kNN {:.2f} %", 100 * *knn));
    progress.Say(
        std::move(status),
        fmt::format("{:.0f} images/s", static_cast<double>(report.images) / report.seconds));
  });
}

Json Simulation::Summary() const {
  const RunIdentity& identity = record_.Identity();
  Json summary = ToJson(RunSummary{.kind = RunKind::kSimulation,
                                   .experiment = experiment_,
                                   .method = *method_,
                                   .model = record_.Global(),
                                   .clients = static_cast<size_t>(partition_.Clients()),
                                   .sums = record_.Sums(),
                                   .config_hash = identity.config});
  summary["cpu_seconds"] = record_.Sums().cpu_seconds;
  summary["workers"] = workers_;
  summary["ranks"] = ranks_.Size();
  summary["kernels"] = KernelsOf(experiment_.model.engine);
  summary["data_hash"] = identity.data;
  summary["partition_hash"] = identity.partition;
  summary["knn"] = {{"k", experiment_.eval.k},
                    {"t", experiment_.eval.t},
                    {"test_images", dataset_.test.images.count}};
  if (!ranks_.Alone()) {
    summary["rank_seconds"] = {{"talking", ranks_.Talking()}, {"waiting", ranks_.Waiting()}};
  }
  return summary;
}

}  // namespace kindred

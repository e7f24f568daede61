#include "run/simulation.h"

#include <chrono>

#include "aggregate/rule.h"
#include "base/error.h"
#include "base/log.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "eval/false_negatives.h"
#include "kernel/kernel_path.h"
#include "run/fit.h"
#include "run/monitor.h"
#include "server/client_sampling.h"

namespace kindred {
namespace {

void CheckFit(const Experiment& experiment) {
  const int batch = experiment.train.batch, splits = experiment.model.bn_splits;
  if (batch % splits != 0) {
    throw UsageError("train.batch = {} is not a multiple of model.bn_splits = {}", batch, splits);
  }
}

// What a digest depends on beside the configuration: the kind of code that ran.
const char* KernelsOf(const std::string& engine) {
  if (engine == "torch") return "libtorch";
  return BestKernelPath() == KernelPath::kAvx2 ? "avx2" : "portable";
}

int SideOf(const Images& images) { return images.height == images.width ? images.height : 0; }

}  // namespace

Simulation::Simulation(const Experiment& experiment, const std::string& config_hash,
                       const RunDir& dir)
    : experiment_((CheckFit(experiment), experiment)),
      dataset_(LoadDataset(experiment.data)),
      partition_(MakePartition(dataset_, experiment.partition)),
      context_{.model = experiment.model,
               .method = experiment.method,
               .privacy = experiment.privacy,
               .channels = dataset_.train.images.channels,
               .classes = dataset_.train.labels.empty() ? 0 : dataset_.Classes(),
               .batch = experiment.train.batch,
               .seed = experiment.train.seed,
               .side = SideOf(dataset_.train.images),
               .data = experiment.data.name,
               .folder = dir.path()},
      workers_(std::min(WorkerCount(experiment.train.workers),
                        ClientsInRound(partition_.Clients(), experiment.train.participation))),
      store_(static_cast<uint64_t>(experiment.train.memory) << 20, dir.scratch()),
      method_(MakeMethod(context_)),
      record_(dir, {config_hash, DataHash(dataset_), PartitionHash(partition_)},
              experiment.train.rounds, InputOf(dataset_)) {
  CheckSplits(*method_, context_);
  CheckRule(experiment.rule, ClientsInRound(partition_.Clients(), experiment.train.participation));
  if (method_->FeaturesToShare() > 0 && experiment.privacy.features != "plain") CheckMixes();
  LimitTestImages(dataset_, experiment.eval);
}

// Every client must have as many images as an encoding mixes.
void Simulation::CheckMixes() const {
  for (int client = 0; client < partition_.Clients(); ++client) {
    const size_t images = partition_.clients[static_cast<size_t>(client)].size();
    if (images < static_cast<size_t>(experiment_.privacy.mix)) {
      throw UsageError(
          "client {} has {} images, an encoding mixes privacy.mix = {}; use fewer clients or more "
          "images, lower privacy.mix, or a method that shares no features",
          client, images, experiment_.privacy.mix);
    }
  }
}

void Simulation::Start() {
  if (method_->FeaturesToShare() > 0 && experiment_.privacy.features == "plain") {
    spdlog::warn(
        "privacy.features = \"plain\": features of plain images are shared; for comparison in a "
        "simulation only");
  }
  if (const auto why = WhyTooFewImages(*method_, partition_)) spdlog::warn("{}", *why);
  record_.Start(method_->Shared(), store_);
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
                               (train.rounds - record_.NextRound()));
}

void Simulation::Train(const std::atomic<bool>& stop) {
  if (record_.Finished()) return;
  const auto& train = experiment_.train;
  if (record_.NextRound() == 0 && !record_.Sums().first_knn) LookAtNeighbors(0, stop);
  Progress progress("training", ImagesLeft(), "images");
  uint64_t seen = 0;
  RoundHooks hooks = {.stop = &stop, .on_step = [&](int images) {
                        progress.At(seen += static_cast<uint64_t>(images));
                      }};
  std::optional<FalseNegatives> observer;
  if (!dataset_.train.labels.empty()) {
    observer.emplace(LabeledClients{.data = dataset_.train,
                                    .partition = partition_,
                                    .classes = dataset_.Classes(),
                                    .privacy = experiment_.privacy,
                                    .shared = method_->FeaturesToShare(),
                                    .seed = train.seed});
    hooks.observe = [&](int client, const RemoteBank& remote) {
      return observer->Observe(client, remote);
    };
  }
  InProcess transport({.data = dataset_.train,
                       .partition = partition_,
                       .method = context_,
                       .options = {.epochs = train.epochs,
                                   .batch = train.batch,
                                   .momentum = train.momentum,
                                   .weight_decay = train.weight_decay,
                                   .views = {experiment_.views, dataset_.normalization},
                                   .privacy = experiment_.privacy,
                                   .seed = train.seed},
                       .store = store_},
                      workers_, hooks, WorkerCount(train.workers));
  const RoundLoopOptions rounds = {
      .train = train,
      .features = experiment_.features,
      .rule = experiment_.rule,
      .limits = experiment_.limits,
      .first = record_.NextRound(),
      .features_width = experiment_.model.dim,
      .features_most = method_->FeaturesToShare(),
      .images_of = [&](int client) {
        return static_cast<int64_t>(partition_.clients[static_cast<size_t>(client)].size());
      }};
  RunRounds(rounds, transport, record_.Server(), [&](const RoundReport& report) {
    progress.Clear();
    OnRound(report, stop);
    const auto& knn = record_.Sums().last_knn;
    progress.Say(fmt::format("round {}/{}, {:.0f} images/s, loss {:.3f}{}", report.round + 1,
                             train.rounds, static_cast<double>(report.images) / report.seconds,
                             report.loss, knn ? fmt::format(", kNN {:.2f} %", 100 * *knn) : ""));
  });
}

void Simulation::OnRound(const RoundReport& report, const std::atomic<bool>& stop) {
  const int done = report.round + 1;
  record_.AddRound(report);
  if (done % experiment_.eval.every == 0 || done == experiment_.train.rounds) {
    LookAtNeighbors(done, stop);
  }
  record_.Save(done, store_);
}

// The kNN monitor, where there are labels and test images.
void Simulation::LookAtNeighbors(int round, const std::atomic<bool>& stop) {
  if (dataset_.test.labels.empty() || dataset_.train.labels.empty()) return;
  if (stop) throw Interrupted{};
  const auto start = std::chrono::steady_clock::now();
  const int workers = WorkerCount(experiment_.train.workers);
  const double accuracy = KnnAccuracy(
      {Under(record_.Global(), method_->EncoderPrefix()), experiment_.model, InputOf(dataset_)},
      dataset_, experiment_.eval, workers);
  record_.AddKnn(round, accuracy,
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

Json Simulation::Summary() const {
  const Tally& sums = record_.Sums();
  Json summary = {
      {"method", experiment_.method.name},
      {"dataset", dataset_.name},
      {"scheme", experiment_.partition.scheme},
      {"clients", partition_.Clients()},
      {"rounds", experiment_.train.rounds},
      {"seed", experiment_.train.seed},
      {"participation", experiment_.train.participation},
      {"model_digest", DigestOf(record_.Global())},
      {"seconds", sums.seconds},
      {"images", sums.images},
      {"images_per_second", sums.seconds > 0 ? static_cast<double>(sums.images) / sums.seconds : 0},
      {"bytes_down", sums.bytes_down},
      {"bytes_up", sums.bytes_up},
      {"workers", workers_},
      {"engine", experiment_.model.engine},
      {"kernels", KernelsOf(experiment_.model.engine)},
      {"config_hash", record_.Identity().config},
      {"data_hash", record_.Identity().data},
      {"partition_hash", record_.Identity().partition},
      {"knn",
       {{"k", experiment_.eval.k},
        {"t", experiment_.eval.t},
        {"test_images", dataset_.test.images.count}}},
      {"version", KINDRED_VERSION}};
  if (sums.first_knn) summary["knn_first"] = *sums.first_knn;
  if (sums.last_knn) summary["knn_last"] = *sums.last_knn;
  if (!method_->Note().empty()) summary["method_note"] = method_->Note();
  if (method_->FeaturesToShare() > 0) {
    summary["shared_features"] = {{"features", experiment_.privacy.features},
                                  {"mix", experiment_.privacy.mix},
                                  {"input", experiment_.privacy.input},
                                  {"statistics", experiment_.privacy.statistics}};
  }
  summary["diagnostics"] = sums.diagnostics;
  return summary;
}

}  // namespace kindred

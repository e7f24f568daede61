// `kindred train`: a federation in this process.
#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>

#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "base/table.h"
#include "cli/command.h"
#include "eval/features.h"
#include "eval/knn.h"
#include "model/one_thread.h"
#include "record/metrics.h"
#include "record/run_dir.h"
#include "server/checkpoint.h"
#include "server/round_loop.h"
#include "transport/in_process.h"

namespace kindred {
namespace {

using Json = nlohmann::ordered_json;

struct TrainFlags {
  std::string out;
  bool resume = false;
};

std::atomic<bool> stop_requested = false;

// The first signal asks to stop at the next step, the second ends the program as signals do.
void OnSignal(int signal) {
  stop_requested = true;
  std::signal(signal, SIG_DFL);
}

// What has come of a run so far; kept in checkpoints, so that a resumed run sums up the whole.
struct Tally {
  std::optional<double> first_knn, last_knn;
  double seconds = 0;
  int64_t images = 0;
  uint64_t bytes_down = 0, bytes_up = 0;

  Json ToJson() const {
    Json json = {{"seconds", seconds}, {"images", images}, {"down", bytes_down}, {"up", bytes_up}};
    if (first_knn) json["first"] = *first_knn;
    if (last_knn) json["last"] = *last_knn;
    return json;
  }
  static Tally FromJson(const Json& json) {
    Tally tally{.seconds = json.at("seconds"),
                .images = json.at("images"),
                .bytes_down = json.at("down"),
                .bytes_up = json.at("up")};
    if (json.contains("first")) tally.first_knn = json["first"].get<double>();
    if (json.contains("last")) tally.last_knn = json["last"].get<double>();
    return tally;
  }
};

// Opens or makes the run's folder and resolves the configuration: a run that goes on has its own.
struct Opened {
  Resolved resolved;
  RunDir dir;
  bool resumed = false;
};

std::string DefaultOut(const Experiment& experiment) {
  return fmt::format("runs/{}-{}-{}-{}", experiment.method.name, experiment.data.name,
                     experiment.partition.scheme, experiment.train.seed);
}

Opened OpenRun(const ConfigFlags& config, const TrainFlags& flags) {
  const std::filesystem::path out =
      !flags.out.empty() ? flags.out : DefaultOut(*Resolve(config).experiment);
  if (!flags.resume || !FileExists(out / "config.toml")) {
    if (flags.resume && FileExists(out) && !std::filesystem::is_empty(out)) {
      spdlog::warn("{}: no config.toml there, so no run to go on with", Printable(out.string()));
    }
    RunDir::RefuseUsed(out);
    if (flags.resume) spdlog::info("{}: no run there yet; one begins", Printable(out.string()));
    return {Resolve(config), RunDir(out), false};
  }
  RunDir dir(out);
  ConfigFlags own = config;
  if (own.file.empty()) own.file = dir.config().string();
  Resolved resolved = Resolve(own);
  Experiment before;
  Config stored = BindExperiment(before);
  stored.ApplyFile(dir.config());
  const auto now = resolved.config.ResultKeys(), then = stored.ResultKeys();
  for (size_t i = 0; i < now.size(); ++i) {
    if (now[i] != then[i]) {
      throw UsageError("--resume: {} was started with {}, now it is {}; a run goes on as it began",
                       Printable(out.string()), then[i], now[i]);
    }
  }
  return {std::move(resolved), std::move(dir), true};
}

void CheckFit(const Experiment& experiment) {
  const int batch = experiment.train.batch, splits = experiment.model.bn_splits;
  if (batch % splits != 0) {
    throw UsageError("train.batch = {} is not a multiple of model.bn_splits = {}", batch, splits);
  }
}

std::string ConfigHash(const Config& config) {
  Digest digest;
  for (const auto& key : config.ResultKeys()) digest.Add(std::string_view(key));
  return digest.Hex();
}

// The run under way: everything that rounds need and leave behind.
class Run {
 public:
  Run(const Experiment& experiment, const std::string& config_hash, const RunDir& dir)
      : experiment_(experiment),
        dir_(dir),
        dataset_(LoadDataset(experiment.data)),
        partition_(MakePartition(dataset_, experiment.partition)),
        context_{.model = experiment.model,
                 .method = experiment.method,
                 .channels = dataset_.train.images.channels,
                 .batch = experiment.train.batch,
                 .seed = experiment.train.seed},
        workers_(std::min(WorkerCount(experiment.train.workers), partition_.Clients())),
        store_(static_cast<uint64_t>(experiment.train.memory) << 20, dir.scratch()),
        method_(MakeMethod(context_)),
        config_hash_(config_hash),
        data_hash_(DataHash(dataset_)),
        partition_hash_(PartitionHash(partition_)) {
    state_.identity = Identity();
    if (experiment.eval.limit > 0 && experiment.eval.limit < dataset_.test.images.count) {
      dataset_.test = Select(
          dataset_.test,
          LimitIndices(dataset_.test.labels, dataset_.test.images.count, experiment.eval.limit));
    }
  }

  // Goes on from the newest checkpoint, or from the seed's initial weights.
  void Start() {
    MakeFolder(dir_.checkpoints());
    if (auto saved = LoadCheckpoint(dir_.checkpoints(), store_)) {
      if (saved->identity != Identity()) {
        throw UsageError(
            "{}: the checkpoint is of another configuration, other data or another partition; put "
            "back "
            "what was changed, or start again in another folder",
            Printable(dir_.path().string()));
      }
      state_ = std::move(*saved);
      tally_ = Tally::FromJson(Json::parse(state_.progress));
      spdlog::info("going on after round {} of {}", state_.next_round, experiment_.train.rounds);
    } else {
      state_.global = Clone(method_->Shared());
    }
    metrics_.emplace(dir_.metrics(), state_.metrics_offset);
  }

  // What a checkpoint must belong to.
  std::string Identity() const { return config_hash_ + " " + data_hash_ + " " + partition_hash_; }

  bool Finished() const { return state_.next_round >= experiment_.train.rounds; }

  // Trains what is left. Throws Interrupted when a signal asks.
  void Train() {
    const auto& train = experiment_.train;
    if (state_.next_round == 0 && !tally_.first_knn) Look(0);
    int64_t total = 0;
    for (const auto& own : partition_.clients) {
      const auto count = static_cast<int64_t>(own.size());
      total += count < train.batch ? count : count / train.batch * train.batch;
    }
    total *= train.epochs;
    const auto expected = static_cast<uint64_t>(static_cast<double>(total) * train.participation *
                                                (train.rounds - state_.next_round));
    Progress progress("training", expected, "images");
    uint64_t seen = 0;
    const RoundHooks hooks = {.stop = &stop_requested, .on_step = [&](int images) {
                                progress.At(seen += static_cast<uint64_t>(images));
                              }};
    InProcess transport({.data = dataset_.train,
                         .partition = partition_,
                         .method = context_,
                         .options = {.epochs = train.epochs,
                                     .batch = train.batch,
                                     .momentum = train.momentum,
                                     .weight_decay = train.weight_decay,
                                     .views = {experiment_.views, dataset_.normalization},
                                     .seed = train.seed},
                         .store = store_},
                        workers_, hooks);
    RunRounds(train, partition_.Clients(), state_.next_round, transport, state_.global,
              [&](const RoundReport& report) {
                progress.Clear();
                OnRound(report);
                const double rate = static_cast<double>(report.images) / report.seconds;
                progress.Say(fmt::format(
                    "round {}/{}, {:.0f} images/s, loss {:.3f}{}", report.round + 1, train.rounds,
                    rate, report.loss,
                    tally_.last_knn ? fmt::format(", kNN {:.2f} %", 100 * *tally_.last_knn) : ""));
              });
  }

  Json Summary() const {
    Json summary = {{"method", experiment_.method.name},
                    {"dataset", dataset_.name},
                    {"scheme", experiment_.partition.scheme},
                    {"clients", partition_.Clients()},
                    {"rounds", experiment_.train.rounds},
                    {"seed", experiment_.train.seed},
                    {"model_digest", DigestOf(state_.global)},
                    {"seconds", tally_.seconds},
                    {"images", tally_.images},
                    {"images_per_second",
                     tally_.seconds > 0 ? static_cast<double>(tally_.images) / tally_.seconds : 0},
                    {"bytes_down", tally_.bytes_down},
                    {"bytes_up", tally_.bytes_up},
                    {"workers", workers_},
                    {"config_hash", config_hash_},
                    {"data_hash", data_hash_},
                    {"partition_hash", partition_hash_},
                    {"knn",
                     {{"k", experiment_.eval.k},
                      {"t", experiment_.eval.t},
                      {"test_images", dataset_.test.images.count}}},
                    {"version", KINDRED_VERSION}};
    if (tally_.first_knn) summary["knn_first"] = *tally_.first_knn;
    if (tally_.last_knn) summary["knn_last"] = *tally_.last_knn;
    return summary;
  }

 private:
  void OnRound(const RoundReport& report) {
    tally_.seconds += report.seconds;
    tally_.images += report.images;
    tally_.bytes_down += report.bytes_down;
    tally_.bytes_up += report.bytes_up;
    const int done = report.round + 1, rounds = experiment_.train.rounds;
    metrics_->Append({{"kind", "round"},
                      {"round", done},
                      {"loss", report.loss},
                      {"lr", report.lr},
                      {"clients", report.clients},
                      {"images", report.images},
                      {"seconds", report.seconds},
                      {"bytes_down", report.bytes_down},
                      {"bytes_up", report.bytes_up}});
    const double rate = static_cast<double>(report.images) / report.seconds;
    spdlog::info("round {}/{}: loss {:.4f}, {:.0f} images/s", done, rounds, report.loss, rate);
    if (done % experiment_.eval.every == 0 || done == rounds) Look(done);
    state_.next_round = done;
    Save();
  }

  // The kNN monitor, where there are labels and test images.
  void Look(int round) {
    if (dataset_.test.labels.empty() || dataset_.train.labels.empty()) return;
    if (stop_requested) throw Interrupted{};
    const auto start = std::chrono::steady_clock::now();
    const NamedTensors encoder = Under(state_.global, method_->EncoderPrefix());
    const auto encode = [&](const Images& images) {
      return EncodeImages(encoder, experiment_.model, images, dataset_.normalization,
                          WorkerCount(experiment_.train.workers));
    };
    const double accuracy =
        KnnAccuracy(encode(dataset_.train.images), dataset_.train.labels,
                    encode(dataset_.test.images), dataset_.test.labels, dataset_.Classes(),
                    {.k = experiment_.eval.k, .t = experiment_.eval.t});
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (round == 0) tally_.first_knn = accuracy;
    tally_.last_knn = accuracy;
    metrics_->Append(
        {{"kind", "knn"}, {"round", round}, {"knn", accuracy}, {"knn_seconds", seconds}});
    spdlog::info("round {}: kNN {:.2f} %", round, 100 * accuracy);
  }

  // A checkpoint that fails leaves the one before; training goes on. The last one must not fail: it
  // is the trained model.
  void Save() {
    state_.metrics_offset = metrics_->offset();
    state_.progress = tally_.ToJson().dump();
    try {
      dir_.WriteTensorboard();
    } catch (const Error& error) {
      spdlog::warn("no TensorBoard file: {}", error.what());
    }
    try {
      metrics_->Sync();
      SaveCheckpoint(dir_.checkpoints(), state_, store_);
    } catch (const Error& error) {
      if (Finished()) {
        throw DataError("the trained model could not be saved: {}; make room, then --resume",
                        error.what());
      }
      spdlog::warn("no checkpoint of round {}: {}; training goes on", state_.next_round,
                   error.what());
    }
  }

  const Experiment& experiment_;
  const RunDir& dir_;
  Dataset dataset_;
  Partition partition_;
  MethodContext context_;
  int workers_;
  LocalStore store_;
  std::unique_ptr<Method> method_;  // with the seed's initial weights
  std::string config_hash_, data_hash_, partition_hash_;
  RunState state_;
  Tally tally_;
  std::optional<MetricsFile> metrics_;
};

std::string Duration(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole < 120) return fmt::format("{:.1f} s", seconds);
  if (whole < 7200) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

// Whether all that SummaryText reads is there; else the run's end is worked out again.
bool IsSummary(const Json& summary) {
  if (!summary.is_object()) return false;
  for (const char* key : {"method", "dataset", "scheme", "model_digest"}) {
    if (!summary.contains(key) || !summary[key].is_string()) return false;
  }
  for (const char* key :
       {"clients", "rounds", "seconds", "images_per_second", "bytes_down", "bytes_up"}) {
    if (!summary.contains(key) || !summary[key].is_number()) return false;
  }
  return true;
}

std::string SummaryText(const Json& summary, const RunDir& dir) {
  std::vector<std::vector<std::string>> rows = {
      {"run",
       fmt::format("{} on {}, {}, {} clients, {} rounds", summary["method"].get<std::string>(),
                   summary["dataset"].get<std::string>(), summary["scheme"].get<std::string>(),
                   summary["clients"].get<int>(), summary["rounds"].get<int>())},
      {"time", fmt::format("{}, {:.0f} images/s", Duration(summary["seconds"]),
                           summary["images_per_second"].get<double>())}};
  if (summary.contains("knn_first") && summary.contains("knn_last")) {
    rows.push_back({"kNN", fmt::format("{:.2f} % at the random start, {:.2f} % trained",
                                       100 * summary["knn_first"].get<double>(),
                                       100 * summary["knn_last"].get<double>())});
  }
  rows.push_back(
      {"traffic", fmt::format("{} down, {} up, if it went over a network",
                              HumanBytes(summary["bytes_down"]), HumanBytes(summary["bytes_up"]))});
  rows.push_back({"model", summary["model_digest"].get<std::string>()});
  rows.push_back(
      {"files", fmt::format("{0}/ metrics.jsonl, summary.json, checkpoints/, tensorboard/",
                            dir.path().string())});
  return TextTable(rows);
}

CommandResult Train(const ConfigFlags& config, const TrainFlags& flags) {
  UseOneThread();
  for (const int signal : {SIGINT, SIGTERM}) {
    if (std::signal(signal, OnSignal) == SIG_IGN) std::signal(signal, SIG_IGN);  // as it was
  }
  const Opened opened = OpenRun(config, flags);
  const Experiment& experiment = *opened.resolved.experiment;
  CheckFit(experiment);
  if (opened.resumed && FileExists(opened.dir.summary())) {
    const Bytes bytes = ReadFile(opened.dir.summary(), 1 << 20);
    const Json summary = Json::parse(bytes.begin(), bytes.end(), nullptr, false);
    if (IsSummary(summary)) {
      spdlog::info("{}: the run is finished", opened.dir.path().string());
      return {SummaryText(summary, opened.dir), summary};
    }
  }
  Run run(experiment, ConfigHash(opened.resolved.config), opened.dir);
  if (!opened.resumed) opened.dir.Create(opened.resolved.config.ToToml());
  const FolderLock lock(opened.dir.path());
  LogAlsoTo(opened.dir.log());
  run.Start();
  try {
    if (!run.Finished()) run.Train();
  } catch (const Interrupted&) {
    spdlog::info("stopped; go on with: kindred train --resume --out {}",
                 opened.dir.path().string());
    throw Stopped{};
  }
  const Json summary = run.Summary();
  WriteFileAtomically(opened.dir.summary(), summary.dump(2) + "\n");
  return {SummaryText(summary, opened.dir), summary};
}

}  // namespace

void AddTrainCommand(CLI::App& app, Program& program) {
  auto config = std::make_shared<ConfigFlags>();
  auto flags = std::make_shared<TrainFlags>();
  CLI::App* command = AddCommand(app, program, "train", "Train a federation in this process",
                                 [config, flags] { return Train(*config, *flags); });
  AddConfigFlags(*command, config);
  command->add_option("--out", flags->out, "the run's folder; default: runs/<method>-<data>-...");
  command->add_flag("--resume", flags->resume, "go on from the last checkpoint there");
  command->add_option_function<std::string>(
      "--workers",
      [config](const std::string& value) {
        config->given.push_back({"train.workers", value, "--workers"});
      },
      "clients trained at a time, short for --set train.workers=...");
}

}  // namespace kindred

// `kindred train`: a federation in this process.
#include <atomic>

#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/stop.h"
#include "model/one_thread.h"
#include "run/simulation.h"
#include "run/summary.h"

namespace kindred {
namespace {

struct TrainFlags {
  std::string out;
  bool resume = false;
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
  if (own.files.empty()) own.files = {dir.config().string()};
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

std::string ConfigHash(const Config& config) {
  Digest digest;
  for (const auto& key : config.ResultKeys()) digest.Add(std::string_view(key));
  return digest.Hex();
}

CommandResult Train(const ConfigFlags& config, const TrainFlags& flags) {
  UseOneThread();
  const std::atomic<bool>& stop = StopOnSignals();
  const Opened opened = OpenRun(config, flags);
  const Experiment& experiment = *opened.resolved.experiment;
  if (opened.resumed && FileExists(opened.dir.summary())) {
    const Bytes bytes = ReadFile(opened.dir.summary(), 1 << 20);
    const Json summary = Json::parse(bytes.begin(), bytes.end(), nullptr, false);
    if (IsSummary(summary)) {
      spdlog::info("{}: the run is finished", opened.dir.path().string());
      return {SummaryText(summary, opened.dir), summary};
    }
  }
  Simulation simulation(experiment, ConfigHash(opened.resolved.config), opened.dir);
  if (!opened.resumed) opened.dir.Create(opened.resolved.config.ToToml());
  const FolderLock lock(opened.dir.path());
  LogAlsoTo(opened.dir.log());
  simulation.Start();
  try {
    simulation.Train(stop);
  } catch (const Interrupted&) {
    spdlog::info("stopped; go on with: kindred train --resume --out {}",
                 opened.dir.path().string());
    throw Stopped{};
  }
  const Json summary = simulation.Summary();
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

// `kindred train`: a federation in this process.
#include <atomic>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/open_run.h"
#include "cli/stop.h"
#include "model/one_thread.h"
#include "run/simulation.h"
#include "run/summary.h"

namespace kindred {
namespace {

CommandResult Train(const ConfigFlags& config, const RunFlags& flags) {
  UseOneThread();
  const std::atomic<bool>& stop = StopOnSignals();
  const OpenedRun opened = OpenRun(config, flags);
  const Experiment& experiment = *opened.resolved.experiment;
  if (opened.resumed) {
    if (const auto summary = FinishedSummary(opened.dir)) {
      return {SummaryText(*summary, opened.dir), *summary};
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
  auto flags = std::make_shared<RunFlags>();
  CLI::App* command = AddCommand(app, program, "train", "Train a federation in this process",
                                 [config, flags] { return Train(*config, *flags); });
  AddConfigFlags(*command, config);
  AddRunFlags(*command, flags);
  command->add_option_function<std::string>(
      "--workers",
      [config](const std::string& value) {
        config->given.push_back({"train.workers", value, "--workers"});
      },
      "clients trained at a time, short for --set train.workers=...");
}

}  // namespace kindred

// `kindred train`: a federation in this process, or in the ranks of an MPI job.
#include <atomic>

#include "base/error.h"
#include "base/interrupted.h"
#include "base/log.h"
#include "command/learning.h"
#include "command/open_dashboard.h"
#include "command/open_run.h"
#include "command/stop.h"
#include "model/one_thread.h"
#include "ranks/mpi.h"
#include "run/simulation.h"
#include "run/summary.h"
#include "run/training.h"

namespace kindred {
namespace {

// What rank 0 tells the others of the run: its folder and configuration. Null: it is finished.
void TellRun(Ranks& ranks, const OpenedRun* opened) {
  Json told = Json::object();
  if (opened) {
    told = {{"folder", opened->dir.path().string()}, {"config", opened->resolved.config.ToToml()}};
  }
  const std::string text = told.dump();
  Bytes bytes(text.begin(), text.end());
  ranks.Broadcast(bytes);
}

// A rank that follows: trains its share of the clients, and says nothing.
CommandResult Follow(Ranks& ranks, const std::atomic<bool>& stop) {
  spdlog::set_level(spdlog::level::warn);
  Bytes bytes;
  ranks.Broadcast(bytes);
  const Json told = Json::parse(bytes.begin(), bytes.end());
  CommandResult nothing = {.text = "", .silent = true};
  if (told.empty()) return nothing;
  Experiment experiment;
  Config config = BindExperiment(experiment);
  config.ApplyText(told.at("config").get<std::string>(), "rank 0's configuration");
  const RunDir dir{std::filesystem::path(told.at("folder").get<std::string>())};
  FollowSimulation(experiment, ConfigHash(config, experiment), dir, ranks, stop);
  ranks.Meet();  // until rank 0 has written how it ended
  return nothing;
}

CommandResult Lead(const TrainFlags& flags, Ranks* ranks, const std::atomic<bool>& stop) {
  const OpenedRun opened = OpenRun(flags.config, flags.run);
  if (opened.resumed) {
    const auto summary = FinishedSummary(opened.dir);
    const int rounds = opened.resolved.experiment->train.rounds;
    if (summary && !HasTrainedModel(opened.dir, rounds)) {
      spdlog::warn(
          "{}: the run is finished, but its last checkpoint is missing or damaged: it goes on",
          Printable(opened.dir.path().string()));
    } else if (summary) {
      spdlog::info("{}: the run is finished", Printable(opened.dir.path().string()));
      if (ranks) TellRun(*ranks, nullptr);
      return {SummaryText(*summary, opened.dir), *summary};
    }
  }
  if (ranks) TellRun(*ranks, &opened);
  const auto dashboard = OpenDashboard(flags.page, opened.dir);
  const Json summary = TrainRun(opened.resolved, opened.dir, stop, ranks);
  return {SummaryText(summary, opened.dir), summary};
}

}  // namespace

CommandResult Train(const TrainFlags& flags) {
  UseOneThread();
  const std::atomic<bool>& stop = StopOnSignals();
  const auto ranks = OpenRanks();
  if (!ranks) return Lead(flags, nullptr, stop);
  // Whatever ends one rank ends all: the others would wait for it.
  const auto end = [&](int code, const std::string& why) {
    if (!why.empty()) spdlog::error("rank {} of {}: {}", ranks->Rank(), ranks->Size(), why);
    spdlog::default_logger()->flush();
    ranks->Abort(code);
  };
  try {
    return ranks->Leads() ? Lead(flags, ranks.get(), stop) : Follow(*ranks, stop);
  } catch (const Interrupted&) {
    if (ranks->Leads()) spdlog::info("stopped; run the same command with --resume to continue");
    end(kStoppedBySignal, "");
  } catch (const Error& error) {
    end(static_cast<int>(error.code()), error.what());
  } catch (const std::exception& error) {
    end(static_cast<int>(ExitCode::kInternal), Printable(error.what()));
  }
  return {};
}

}  // namespace kindred

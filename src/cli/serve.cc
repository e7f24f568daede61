// `kindred serve`: the coordinator of a federation over a network.
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/dashboard_flags.h"
#include "cli/open_run.h"
#include "cli/stop.h"
#include "client/round.h"
#include "model/one_thread.h"
#include "run/coordination.h"
#include "run/summary.h"

namespace kindred {
namespace {

struct ServeFlags {
  std::string listen = "127.0.0.1:7433";
  std::string pki;
  bool plain_text = false;
};

CommandResult Serve(const ConfigFlags& config, const RunFlags& run, const ServeFlags& flags,
                    const DashboardFlags& page) {
  UseOneThread();
  const std::atomic<bool>& stop = StopOnSignals();
  const OpenedRun opened = OpenRun(config, run);
  if (opened.resumed) {
    if (const auto summary = FinishedSummary(opened.dir)) {
      spdlog::info("{}: the run is finished", Printable(opened.dir.path().string()));
      return {SummaryText(*summary, opened.dir), *summary};
    }
  }
  Coordination coordination(
      *opened.resolved.experiment, opened.resolved.config, ConfigHash(opened.resolved.config),
      {.listen = flags.listen, .pki = flags.pki, .plain_text = flags.plain_text}, opened.dir, stop);
  const auto dashboard = OpenDashboard(page, opened.dir);
  if (!opened.resumed) opened.dir.Create(opened.resolved.config.ToToml());
  const FolderLock lock(opened.dir.path());
  const LogFile log(opened.dir.log());
  coordination.Start();
  try {
    coordination.Run();
  } catch (const Interrupted&) {
    spdlog::info("stopped; go on with the same command and --resume");
    throw Stopped{};
  }
  const Json summary = coordination.Summary();
  WriteFileAtomically(opened.dir.summary(), summary.dump(2) + "\n");
  return {SummaryText(summary, opened.dir), summary};
}

}  // namespace

void AddServeCommand(CLI::App& app, Program& program) {
  auto config = std::make_shared<ConfigFlags>();
  auto run = std::make_shared<RunFlags>();
  auto flags = std::make_shared<ServeFlags>();
  auto page = std::make_shared<DashboardFlags>();
  CLI::App* command =
      AddCommand(app, program, "serve", "Coordinate a federation over a network",
                 [config, run, flags, page] { return Serve(*config, *run, *flags, *page); });
  AddConfigFlags(*command, config);
  AddRunFlags(*command, run);
  AddDashboardFlags(*command, page);
  command->add_option("--listen", flags->listen, "HOST:PORT to listen on; port 0: any")
      ->capture_default_str();
  command->add_option("--pki", flags->pki, "the folder that `kindred pki init` made")->required();
  command->add_flag("--plain-text", flags->plain_text,
                    "no TLS, and names are taken on trust: on loopback, for trying things out");
}

}  // namespace kindred

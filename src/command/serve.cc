// `kindred serve`: the coordinator of a federation over a network.
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "command/learning.h"
#include "command/open_dashboard.h"
#include "command/open_run.h"
#include "command/stop.h"
#include "model/one_thread.h"
#include "run/coordination.h"
#include "run/summary.h"

namespace kindred {

CommandResult Serve(const ServeFlags& flags) {
  UseOneThread();
  const std::atomic<bool>& stop = StopOnSignals();
  const OpenedRun opened = OpenRun(flags.config, flags.run);
  if (opened.resumed) {
    if (const auto summary = FinishedSummary(opened.dir)) {
      spdlog::info("{}: the run is finished", Printable(opened.dir.path().string()));
      return {SummaryText(*summary, opened.dir), *summary};
    }
  }
  const Experiment& experiment = *opened.resolved.experiment;
  Coordination coordination(
      experiment, opened.resolved.config, ConfigHash(opened.resolved.config, experiment),
      {.listen = flags.listen, .pki = flags.pki, .plain_text = flags.plain_text}, opened.dir, stop);
  const auto dashboard = OpenDashboard(flags.page, opened.dir);
  if (!opened.resumed || !FileExists(opened.dir.config_json())) {  // or killed before it was there
    opened.dir.Create(TextsOf(opened.resolved.config));
  }
  const FolderLock lock(opened.dir.path());
  const LogFile log(opened.dir.log());
  coordination.Start();
  coordination.Run();
  const Json summary = coordination.Summary();
  WriteFileAtomically(opened.dir.summary(), summary.dump(2) + "\n");
  return {SummaryText(summary, opened.dir), summary};
}

}  // namespace kindred

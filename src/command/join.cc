// `kindred join`: one owner's images in a federation over a network.
#include <ctime>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "command/learning.h"
#include "command/resolve.h"
#include "command/stop.h"
#include "model/one_thread.h"
#include "run/participant.h"
#include "run/summary.h"

namespace kindred {

CommandResult JoinRun(const JoinFlags& flags) {
  UseOneThread();
  const std::atomic<bool>& stop = StopOnSignals();
  const std::filesystem::path kit_folder = flags.kit;
  Resolved resolved = ResolveClient(flags.config, flags.kit, flags.data);
  Experiment& experiment = *resolved.experiment;
  // Nobody takes part with the images that a default draws.
  if (resolved.config.OriginOf("data.name") == "default") {
    throw UsageError("which images take part? give --data FOLDER, or --set data.name=NAME");
  }
  if (experiment.data.name == "folder" && !FileExists(experiment.data.path)) {
    throw DataError("{}: no such folder of images", Printable(experiment.data.path));
  }
  if (!flags.plain_text && !FileExists(kit_folder)) {
    throw UsageError("{}: no such kit; `kindred pki issue` makes one", Printable(flags.kit));
  }
  if (experiment.join.server.empty()) {
    throw UsageError(
        "{}: no client.toml with the coordinator's address; give --set "
        "client.server=HOST:PORT",
        Printable(flags.kit));
  }
  std::optional<Kit> kit;
  if (!flags.plain_text) {
    kit = ReadKit(kit_folder);
    if (!experiment.join.name.empty() && experiment.join.name != kit->name) {
      throw NetworkError("client.name = {}, but the certificate is of {}",
                         Printable(experiment.join.name), Printable(kit->name));
    }
    if (kit->expires < std::time(nullptr)) {
      throw NetworkError(
          "{}: the certificate of {} has expired; ask for a new kit (`kindred pki issue "
          "{} --renew`)",
          Printable(flags.kit), kit->name, kit->name);
    }
    experiment.join.name = kit->name;
  } else if (experiment.join.name.empty()) {
    throw UsageError("--plain-text: say who this is with --set client.name=NAME");
  }
  const RunDir dir(flags.out.empty() ? "runs/join-" + experiment.join.name : flags.out);
  MakeFolder(dir.path());
  const FolderLock lock(dir.path());
  if (const auto summary = FinishedSummary(dir)) {
    spdlog::info("{}: the run is finished; for another run give another --out",
                 Printable(dir.path().string()));
    return {SummaryText(*summary, dir), *summary};
  }
  const LogFile log(dir.log());
  const Json summary = TakePart(experiment, resolved.config, kit, dir, stop);
  return {SummaryText(summary, dir), summary};
}

}  // namespace kindred

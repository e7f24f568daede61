#include "command/open_run.h"

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "command/resolve.h"
#include "run/training.h"

namespace kindred {
namespace {

std::string DefaultOut(const Experiment& experiment) {
  return fmt::format("runs/{}-{}-{}-{}", experiment.method.name, experiment.data.name,
                     experiment.partition.scheme, experiment.train.seed);
}

}  // namespace

OpenedRun OpenRun(const ConfigFlags& config, const RunFlags& flags) {
  const std::filesystem::path out =
      !flags.out.empty() ? flags.out : DefaultOut(*Resolve(config).experiment);
  if (!flags.resume || !FileExists(out / "config.toml")) {
    RunDir::RefuseUsed(out);
    if (flags.resume && config.files.empty() && config.assignments.empty()) {
      throw UsageError("{}: no run there to continue; to start one, give --config",
                       Printable(out.string()));
    }
    if (flags.resume)
      spdlog::info("{}: no run there yet; a new one starts", Printable(out.string()));
    return {Resolve(config), RunDir(out), false};
  }
  RunDir dir(out);
  ConfigFlags own = config;
  if (own.files.empty()) own.files = {dir.config().string()};
  Resolved resolved = Resolve(own);
  CheckGoesOn(dir, resolved);
  return {std::move(resolved), std::move(dir), true};
}

}  // namespace kindred

// Opening a run's folder: a new one, or one to go on with.
#pragma once

#include "command/flags.h"
#include "record/run_dir.h"
#include "run/experiment.h"

namespace kindred {

struct OpenedRun {
  Resolved resolved;
  RunDir dir;
  bool resumed = false;
};

// Opens or chooses the run's folder, making nothing, and resolves the configuration: a run that
// goes on has its own. Throws a usage error when the two differ in what is computed, a refusal
// (exit code 5) when the folder is used and --resume was not given.
OpenedRun OpenRun(const ConfigFlags& config, const RunFlags& flags);

}  // namespace kindred

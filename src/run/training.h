// A run of `kindred train` from beginning to end: its folder, lock, log and summary.
#pragma once

#include <atomic>
#include <optional>
#include <string>

#include "base/json.h"
#include "ranks/ranks.h"
#include "record/run_dir.h"
#include "run/experiment.h"

namespace kindred {

// How the configuration that the run in the folder was started with differs from this one, where it
// must give another model; nullopt where it does not. Throws a usage error for a damaged file.
std::optional<std::string> OtherConfiguration(const RunDir& dir, const Resolved& resolved);

// Throws a usage error when there is such a difference.
void CheckGoesOn(const RunDir& dir, const Resolved& resolved);

// Whether the folder holds the model of the last of so many rounds.
bool HasTrainedModel(const RunDir& dir, int rounds);

// Trains the run in `dir`, which becomes one where it is none yet, and writes how it ended; with
// `ranks`, on rank 0 for all. Throws Interrupted when `stop` is set, the last round's checkpoint
// written.
Json TrainRun(const Resolved& resolved, const RunDir& dir, const std::atomic<bool>& stop,
              Ranks* ranks = nullptr);

}  // namespace kindred

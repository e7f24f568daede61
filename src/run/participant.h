// A client of a federation over a network: its own images, the coordinator's plans.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/json.h"
#include "identity/kit.h"
#include "record/run_dir.h"
#include "run/experiment.h"

namespace kindred {

// Takes part until the run is over, and writes the trained model to `dir` as a run does. Kills and
// outages at any instant are gone through: started again with the same folder it goes on. Throws
// Interrupted when `stop` is set, having told the coordinator not to wait; a network error when it
// is refused, or when the coordinator asks for more than [client] allows. Returns summary.json.
//
// `experiment` brings the data and the limits; what is learned the coordinator says, through
// `config`, which must be bound to it.
Json TakePart(Experiment& experiment, Config& config, const std::optional<Kit>& kit,
              const RunDir& dir, const std::atomic<bool>& stop);

}  // namespace kindred

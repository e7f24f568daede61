// What stands between a machine and its part in a federation: checks that say how to fix it.
#pragma once

#include <filesystem>
#include <string>

#include "run/experiment.h"
#include "run/finding.h"

namespace kindred {

struct CoordinatorPlace {
  std::string listen;              // HOST:PORT
  std::filesystem::path pki, out;  // as `kindred serve` takes them
};
Findings LookAtCoordinator(const Experiment& experiment, const CoordinatorPlace& place);

// Asks the coordinator for its settings, if it can be reached, and puts them into `experiment`
// through `config`; without them the client's own are looked at.
struct ClientPlace {
  std::filesystem::path kit, out;  // as `kindred join` takes them
};
Findings LookAtClient(Experiment& experiment, Config& config, const ClientPlace& place);

}  // namespace kindred

// What stands between a machine and its part in a federation: checks that say how to fix it.
#pragma once

#include "doctor/doctor_network.h"
#include "doctor/finding.h"
#include "run/experiment.h"

namespace kindred {

Findings LookAtCoordinator(const Experiment& experiment, const CoordinatorPlace& place);

// Asks the coordinator for its settings, if it can be reached, and puts them into `experiment`
// through `config`; without them the client's own are looked at.
Findings LookAtClient(Experiment& experiment, Config& config, const ClientPlace& place);

}  // namespace kindred

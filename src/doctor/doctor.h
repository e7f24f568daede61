// What stands between a machine and its part in a federation: checks that say how to fix it.
#pragma once

#include "doctor/doctor_network.h"
#include "doctor/finding.h"
#include "run/experiment.h"

namespace kindred {

Findings InspectCoordinator(const Experiment& experiment, const CoordinatorPlace& place);

// Asks the coordinator for its settings, if it can be reached, and puts them into `experiment`
// through `config`; without them the client's own are looked at.
Findings InspectClient(Experiment& experiment, Config& config, const ClientPlace& place);

}  // namespace kindred

// --dashboard of `train` and `serve`.
#pragma once

#include "cli/command.h"

namespace kindred {

// Adds --dashboard and --dashboard-token.
void AddDashboardFlags(CLI::App& command, DashboardFlags& flags);

}  // namespace kindred

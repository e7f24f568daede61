// The live page that --dashboard asks for.
#pragma once

#include <memory>

#include "command/flags.h"
#include "record/run_dir.h"
#include "report/dashboard.h"

namespace kindred {

// The run's dashboard, where it was asked for; says how to open it.
std::unique_ptr<Dashboard> OpenDashboard(const DashboardFlags& flags, const RunDir& dir);

}  // namespace kindred

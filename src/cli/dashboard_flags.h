// --dashboard of `train` and `serve`.
#pragma once

#include <memory>

#include "cli/command.h"
#include "record/run_dir.h"
#include "report/dashboard.h"

namespace kindred {

struct DashboardFlags {
  bool wanted = false;
  DashboardOptions options;
  std::string token_file;
};

// Adds --dashboard and --dashboard-token.
void AddDashboardFlags(CLI::App& command, const std::shared_ptr<DashboardFlags>& flags);

// The run's dashboard, where it was asked for; says how to open it.
std::unique_ptr<Dashboard> OpenDashboard(const DashboardFlags& flags, const RunDir& dir);

}  // namespace kindred

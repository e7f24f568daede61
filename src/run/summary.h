// summary.json as a table for people.
#pragma once

#include <string>

#include "base/json.h"
#include "record/run_dir.h"

namespace kindred {

// Whether all that SummaryText reads is there.
bool IsSummary(const Json& summary);

// Time, accuracy, traffic and where things are. `summary` must pass IsSummary.
std::string SummaryText(const Json& summary, const RunDir& dir);

}  // namespace kindred

// summary.json as a table for people.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "record/run_dir.h"

namespace kindred {

// Whether all that SummaryText reads is there.
bool IsSummary(const Json& summary);

// The summary of a run that is finished; nullopt when it is not.
std::optional<Json> FinishedSummary(const RunDir& dir);

// Time, accuracy, traffic and where things are. `summary` must pass IsSummary.
std::string SummaryText(const Json& summary, const RunDir& dir);

}  // namespace kindred

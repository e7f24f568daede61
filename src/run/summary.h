// summary.json as a table for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "record/run_dir.h"

namespace kindred {

// Whether all that SummaryText reads is there.
bool IsSummary(const nlohmann::ordered_json& summary);

// Time, accuracy, traffic and where things are. `summary` must pass IsSummary.
std::string SummaryText(const nlohmann::ordered_json& summary, const RunDir& dir);

}  // namespace kindred

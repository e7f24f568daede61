// What the page shows of runs: their folders, read into one JSON value. web/src/data.ts reads it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "record/run_dir.h"

namespace kindred {

struct PageContent {
  bool samples = true;                // images of the data
  bool embedding = true;              // their features, with labels
  bool damage = false;                // what could not be read: of a run that does not go on
  uint64_t audit_end = uint64_t(-1);  // bytes of the newest audit file that count
};

// A run as far as it has come: configuration, summary, metrics as columns, evaluations, audit,
// clients, samples, features. Missing or damaged files and lines are missing parts; "damage", where
// asked for, says so in words, a line each. An evaluation that was made twice with the same outcome
// stands there once.
Json RunData(const RunDir& dir, const PageContent& content = {});

// The folder's own name, for people.
std::string ShownName(const std::filesystem::path& folder);

// Rounds' lines as columns: a list of numbers for each name, null where a line has none; "who" as a
// bit for each client, a row of whole bytes per round, in base64.
Json RoundColumns(const std::vector<Json>& lines);

}  // namespace kindred

// What the paper's tables are made of: rows, columns, and the configuration behind each number.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "report/result_table.h"
#include "run/experiment.h"

namespace kindred {

// How the encoder of a row comes about.
enum class RowEncoder {
  kTrained,      // by the row's configuration, on the column's clients
  kCentralized,  // the same, one client with all images
  kRandom,       // not at all: the first weights
};

struct RowKind {
  TableRow row;
  const char* preset;  // an embedded configuration over the scale's
  RowEncoder encoder = RowEncoder::kTrained;
  bool scratch = false;  // finetune: the encoder's weights are not used
};

struct TableKind {
  const char* name;
  const char* title;
  std::span<const RowKind> rows;
  std::span<const char*const> datasets, settings;              // what is run unless asked otherwise
  std::span<const std::pair<const char*, const char*>> looks;  // metric and share of labels
};

std::span<const TableKind> TableKinds();
std::span<const char* const> ScaleNames();

// What somebody wants of the tables; empty lists: all of it.
struct TableChoice {
  std::vector<std::string> tables, datasets, settings, methods;
  std::string scale = "lab";
  int seeds = 1;
  std::vector<std::string> assignments;  // --set, over everything
};

// A table with the rows and columns that were asked for, the paper's numbers in place.
struct ChosenTable {
  ResultTable empty;
  std::vector<const RowKind*> kinds;  // of its rows
};

// Throws a usage error for a name that does not exist.
std::vector<ChosenTable> ChooseTables(const TableChoice& choice);

// The configuration of the run behind a row: configs/SCALE.toml, the row's preset over it, then
// configs/SCALE/METHOD.toml where there is one (what was chosen for this method at this scale).
// `seed` is train.seed; the partition keeps its own.
// Throws a usage error when an assignment is wrong.
Resolved RunConfig(const RowKind& row, const TableChoice& choice, const std::string& dataset,
                   const std::string& setting, uint64_t seed);

}  // namespace kindred

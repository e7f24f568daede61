// The paper's tables, cell by cell: a plan, the runs that are missing, their scores, the tables.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "report/result_table.h"
#include "run/evaluation.h"
#include "run/paper_tables.h"

namespace kindred {

// A run that some cells need; cells with the same configuration share it.
struct PlannedRun {
  std::string name;  // its folder
  Resolved resolved;
  std::string config_hash;
  bool trains = true;  // false: its first weights are all that is wanted
  bool done = false;
  int rounds_done = 0;
  double seconds = 0;       // still to go, about
  std::string failed = {};  // why it is not done
};

// A number to be had from a run.
struct PlannedScore {
  size_t table = 0, row = 0, column = 0;
  uint64_t seed = 0;
  size_t run = 0;
  const MetricKind* metric = nullptr;
  std::string labels;  // as in CellKey
  bool scratch = false;
  std::string file;  // its name
  bool done = false;
  double seconds = 0;       // still to go, about
  std::string failed = {};  // why it is not done
};

class Reproduction {
 public:
  // Finds what is in `out` already; trains nothing, writes nothing. Throws a usage error for names
  // that do not exist.
  Reproduction(TableChoice choice, std::filesystem::path out);

  // Estimates what is left by steps of each method on this machine. Throws Interrupted.
  void Estimate(const std::atomic<bool>& stop);

  // What is there, what is left and how long that takes, for people and for programs.
  std::string PlanText() const;
  Json PlanJson() const;

  // Trains and evaluates what is missing, in the order of seeds, datasets, settings and rows; after
  // each number the tables are written anew. What fails leaves its cells empty, with the reason.
  // Throws Interrupted when `stop` is set; the next call with the same folder goes on.
  void Run(const std::atomic<bool>& stop);

  // With the numbers there are so far.
  std::vector<ResultTable> Tables() const;

  // tables.md, tables.csv, tables.json and the page tables.html in the folder.
  void WriteTables() const;

  // What could not be trained or evaluated, with the reason.
  std::vector<std::string> Failures() const;

  const std::filesystem::path& out() const { return out_; }

 private:
  void PlanTable(size_t table, uint64_t seed);
  size_t RunFor(const RowKind& row, const TableColumn& column, uint64_t seed);
  void FindDone();
  Json ReadScore(const PlannedScore& score) const;
  void Train(PlannedRun& run, const std::atomic<bool>& stop);
  void Score(PlannedScore& score);

  TableChoice choice_;
  std::filesystem::path out_;
  std::vector<ResultTable> empty_;                  // rows and columns that were chosen
  std::vector<std::vector<const RowKind*>> kinds_;  // of their rows
  std::vector<PlannedRun> runs_;
  std::vector<PlannedScore> scores_;
};

}  // namespace kindred

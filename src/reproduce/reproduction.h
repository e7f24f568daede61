// The paper's tables, cell by cell: a plan, the runs that are missing, their scores, the tables.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "report/result_table.h"
#include "reproduce/paper_tables.h"
#include "reproduce/score_files.h"
#include "run/evaluation.h"

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
  bool other = false;       // the folder holds a run of another configuration
};

// A number to be had from a run.
struct PlannedScore {
  size_t table = 0, row = 0, column = 0;
  uint64_t seed = 0;
  size_t run = 0;
  const MetricKind* metric = nullptr;
  std::string labels;    // as in CellKey
  bool random = false;   // of the run's first weights
  bool scratch = false;  // as EvalOptions has it
  std::string file;      // its name
  bool done = false;
  double seconds = 0;       // still to go, about
  std::string failed = {};  // why it is not done
};

// The run's configuration with what the evaluation changes of it.
Experiment EvaluatedAs(const PlannedScore& score, const Experiment& trained);

class Reproduction {
 public:
  // Finds what is in `out` already, and numbers of other machines in `known`, tables.json files of
  // theirs; trains nothing, writes nothing. Throws a usage error for names that do not exist, a
  // data error for a file that is not such a one, a refusal when a run that is wanted stands in
  // `out` with another configuration: its tables are not replaced.
  Reproduction(TableChoice choice, std::filesystem::path out,
               const std::vector<std::filesystem::path>& known = {});

  // Estimates what is left by steps of each method on this machine, on images of each dataset's
  // size. What needs a dataset that is not here is not estimated: the plan says so. Throws
  // Interrupted.
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

  // tables.md, tables.csv, tables.json and the page tables.html in the folder, which is made.
  // Throws a refusal when another process works there.
  void WriteTables() const;

  // How many numbers are those of `known`.
  int Taken() const;

  // What some number needs and could not be trained or evaluated, with the reason.
  std::vector<std::string> Failures() const;

  const std::filesystem::path& out() const { return out_; }

 private:
  void PlanTable(size_t table, uint64_t seed);
  size_t RunFor(const RowKind& row, const TableColumn& column, uint64_t seed);
  void FindDone();
  bool Wanted(size_t run) const;
  ScoreKey KeyOf(const PlannedScore& score) const;
  void WriteFiles() const;
  void Train(PlannedRun& run, const std::atomic<bool>& stop);
  void Score(PlannedScore& score, const std::atomic<bool>& stop);

  TableChoice choice_;
  std::filesystem::path out_;
  std::vector<ChosenTable> chosen_;
  std::vector<PlannedRun> runs_;
  std::vector<PlannedScore> scores_;
  ScoreFiles files_;
  std::map<std::string, std::string> missing_;  // datasets that are not here, and what to do
};

}  // namespace kindred

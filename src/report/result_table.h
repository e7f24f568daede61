// A table of the paper with our numbers: means, deviations, marks, the paper's number beside each.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "report/paper_numbers.h"

namespace kindred {

// What a row is compared as: upper bounds and random weights are out of competition.
enum class RowRole { kMethod, kPeer, kReference };

struct TableRow {
  std::string name;   // as in CellKey
  std::string title;  // as the paper writes it
  RowRole role = RowRole::kMethod;
  std::string note = {};   // how it was obtained, where that needs saying
  std::string paper = {};  // the row whose numbers of the paper stand beside; empty: its own
  bool yardstick = false;  // the row that the others' differences are taken to
};

struct TableColumn {
  std::string dataset, setting, metric, labels;  // as in CellKey
};

// One number and how it came about.
struct SeedScore {
  uint64_t seed = 0;
  double accuracy = 0;               // in percent
  Json provenance = Json::object();  // protocol, digests, hashes, seconds, bytes
};

struct TableCell {
  std::vector<SeedScore> scores;  // one per seed
  std::optional<double> paper;    // in percent
  std::string failed = {};        // why there is no number, when that is an error
  int place = 0;                  // 1: best of its column, 2: second best, 0: neither
  int paper_place = 0;            // the same among the paper's numbers

  std::set<uint64_t> Seeds() const;
  double Mean() const;
  double Deviation() const;  // 0 with fewer than two scores
};

struct ResultTable {
  std::string name, title;
  std::string scale;
  std::vector<TableRow> rows;
  std::vector<TableColumn> columns;
  std::vector<std::vector<TableCell>> cells;  // by row, then column
};

// A table without numbers of ours, the paper's in place.
ResultTable EmptyTable(std::string name, std::string title, std::string scale,
                       std::vector<TableRow> rows, std::vector<TableColumn> columns);

// The seeds that most of a column's competing numbers are means over; of equally many the more.
std::set<uint64_t> UsualSeeds(const ResultTable& table, size_t column);

// Sets best and second best of each column, of ours and of the paper's, among methods and peers.
// Numbers that are printed alike share a place; those of other seeds than most do not compete.
void MarkPlaces(ResultTable& table);

// **best**, <u>second</u>; mean and deviation, the paper's number in brackets.
std::string ToMarkdown(const ResultTable& table);
std::string ToCsv(const std::vector<ResultTable>& tables);  // one line per cell
Json ToJson(const ResultTable& table);  // each number also as "text", as it is to be printed

// "CIFAR-10, non-IID 1, linear".
std::string ColumnTitle(const TableColumn& column);

// "non-IID 1" for noniid1, "CIFAR-10" for cifar10.
std::string SettingTitle(const std::string& setting);
std::string DatasetTitle(const std::string& dataset);

}  // namespace kindred

#include "report/table_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

namespace kindred {
namespace {

// Half of the 95 % interval of a mean of n numbers, in their standard errors: Student's t with
// n - 1 degrees of freedom at .975; above ten degrees the bound of ten, which is wider.
double HalfInterval(size_t n) {
  constexpr double kT[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
  return kT[std::min(n - 2, std::size(kT) - 1)];
}

}  // namespace

std::vector<std::string> OrderNotes(const ResultTable& table) {
  std::vector<std::string> notes;
  for (size_t column = 0; column < table.columns.size(); ++column) {
    std::vector<size_t> rows;
    for (size_t row = 0; row < table.rows.size(); ++row) {
      const TableCell& cell = table.cells[row][column];
      if (table.rows[row].role == RowRole::kMethod && table.rows[row].paper.empty() && cell.paper &&
          !cell.scores.empty() && cell.Seeds() == UsualSeeds(table, column)) {
        rows.push_back(row);
      }
    }
    if (rows.size() < 2) continue;
    const auto by = [&](auto value) {
      auto order = rows;
      std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return value(table.cells[a][column]) > value(table.cells[b][column]);
      });
      std::string text;
      for (const size_t row : order) text += (text.empty() ? "" : " > ") + table.rows[row].title;
      return text;
    };
    const std::string ours = by([](const TableCell& cell) { return cell.Mean(); });
    const std::string papers = by([](const TableCell& cell) { return *cell.paper; });
    const bool contradicted = std::any_of(rows.begin(), rows.end(), [&](size_t a) {
      return std::any_of(rows.begin(), rows.end(), [&](size_t b) {
        const TableCell &one = table.cells[a][column], &two = table.cells[b][column];
        return one.Mean() > two.Mean() && *one.paper < *two.paper;
      });
    });
    if (!contradicted) continue;
    notes.push_back(fmt::format("{}: {} here; in the paper {}", ColumnTitle(table.columns[column]),
                                ours, papers));
  }
  return notes;
}

std::vector<std::string> MissingNotes(const ResultTable& table) {
  std::vector<std::string> notes;
  for (size_t column = 0; column < table.columns.size(); ++column) {
    std::string missing;
    for (size_t row = 0; row < table.rows.size(); ++row) {
      const bool competes = table.rows[row].role != RowRole::kReference;
      const TableCell& cell = table.cells[row][column];
      if (!competes || !cell.scores.empty() || !cell.failed.empty()) continue;
      missing += (missing.empty() ? "" : "; ") + table.rows[row].title;
    }
    if (missing.empty() || UsualSeeds(table, column).empty()) continue;
    notes.push_back(fmt::format("{}: {}", ColumnTitle(table.columns[column]), missing));
  }
  return notes;
}

std::vector<std::string> PairedNotes(const ResultTable& table) {
  std::vector<std::string> notes;
  const auto base = std::find_if(table.rows.begin(), table.rows.end(),
                                 [](const TableRow& row) { return row.yardstick; });
  if (base == table.rows.end()) return notes;
  const auto base_row = static_cast<size_t>(base - table.rows.begin());
  for (size_t column = 0; column < table.columns.size(); ++column) {
    std::map<uint64_t, double> of_base;
    for (const auto& score : table.cells[base_row][column].scores) {
      of_base[score.seed] = score.accuracy;
    }
    std::string text;
    for (size_t row = 0; row < table.rows.size(); ++row) {
      if (row == base_row) continue;
      TableCell gaps;  // its mean and deviation are those of the differences
      for (const auto& score : table.cells[row][column].scores) {
        const auto at = of_base.find(score.seed);
        if (at == of_base.end()) continue;
        gaps.scores.push_back({.seed = score.seed, .accuracy = score.accuracy - at->second});
      }
      if (gaps.scores.size() < 2) continue;
      const size_t seeds = gaps.scores.size();
      const double half =
          HalfInterval(seeds) * gaps.Deviation() / std::sqrt(static_cast<double>(seeds));
      text += fmt::format("{}{} {:+.2f} ({:+.2f} to {:+.2f}, {} seeds)", text.empty() ? "" : "; ",
                          table.rows[row].title, gaps.Mean(), gaps.Mean() - half,
                          gaps.Mean() + half, seeds);
    }
    if (text.empty()) continue;
    notes.push_back(
        fmt::format("{}, to {}: {}", ColumnTitle(table.columns[column]), base->title, text));
  }
  return notes;
}

std::vector<std::string> CostNotes(const ResultTable& table) {
  std::vector<std::string> notes;
  for (size_t column = 0; column < table.columns.size(); ++column) {
    std::string text;
    for (size_t row = 0; row < table.rows.size(); ++row) {
      TableCell costs;
      for (const auto& score : table.cells[row][column].scores) {
        const Json training = score.provenance.value("training", Json::object());
        const Json seconds = training.is_object() ? training.value("cpu_seconds", Json()) : Json();
        if (seconds.is_number()) costs.scores.push_back({.accuracy = seconds.get<double>()});
      }
      if (costs.scores.empty()) continue;
      text +=
          fmt::format("{}{} {:.0f}", text.empty() ? "" : "; ", table.rows[row].title, costs.Mean());
    }
    if (text.empty()) continue;
    notes.push_back(fmt::format("{}: {}", ColumnTitle(table.columns[column]), text));
  }
  return notes;
}

std::string ErrorNote(const ResultTable& table) {
  double most = 0;
  std::set<int64_t> counts;
  for (const auto& row : table.cells) {
    for (const auto& cell : row) {
      for (const auto& score : cell.scores) {
        const Json count = score.provenance.value("test_images", Json());
        if (!count.is_number_integer() || count.get<int64_t>() <= 0) continue;
        counts.insert(count.get<int64_t>());
        const double share = std::clamp(score.accuracy / 100, 0.0, 1.0);
        most = std::max(most, std::sqrt(share * (1 - share) / count.get<double>()));
      }
    }
  }
  if (counts.empty()) return "";
  return fmt::format(
      "One standard error of a number is up to {:.1f} points, by its {}{} test images alone: "
      "smaller gaps say little, marked or not",
      100 * most, counts.size() > 1 ? fmt::format("{} to ", *counts.begin()) : "",
      *counts.rbegin());
}

}  // namespace kindred

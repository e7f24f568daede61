#include "report/result_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "report/table_notes.h"

namespace kindred {
namespace {

constexpr const char* kRoles[] = {"method", "peer", "reference"};  // in the order of RowRole

// An accuracy as every table prints it: it is rounded here and nowhere else.
std::string Shown(double number) { return fmt::format("{:.2f}", number); }

// Calls `at` with each row that competes and has a number in the column.
template <typename Value, typename Set>
void Place(ResultTable& table, size_t column, Value value, Set set) {
  std::vector<double> numbers;
  const auto each = [&](auto&& at) {
    for (size_t row = 0; row < table.rows.size(); ++row) {
      if (table.rows[row].role == RowRole::kReference) continue;
      TableCell& cell = table.cells[row][column];
      if (const std::optional<double> number = value(cell)) at(cell, *number);
    }
  };
  // As they are printed: what looks equal is equal.
  const auto shown = [](double number) { return std::stod(Shown(number)); };
  each([&](TableCell&, double number) { numbers.push_back(shown(number)); });
  const size_t rivals = numbers.size();
  std::sort(numbers.rbegin(), numbers.rend());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  each([&](TableCell& cell, double number) {
    const auto at = std::find(numbers.begin(), numbers.end(), shown(number)) - numbers.begin();
    set(cell, at < 2 && rivals > 1 ? static_cast<int>(at) + 1 : 0);
  });
}

// "1 seed", "other seeds" where the cell's are not those of its column; else empty.
std::string SeedsNote(const ResultTable& table, size_t row, size_t column) {
  const auto own = table.cells[row][column].Seeds(), usual = UsualSeeds(table, column);
  if (own.empty() || usual.empty() || own == usual) return "";
  if (own.size() == usual.size()) return "other seeds";
  return fmt::format("{} seed{}", own.size(), own.size() == 1 ? "" : "s");
}

std::string LabelsText(const TableColumn& column) {
  return fmt::format("{:g} %", 100 * std::stod(column.labels));
}

std::string MetricTitle(const TableColumn& column) {
  if (column.metric == "linear") return "linear";
  return fmt::format("{}, {} labels", column.metric == "semi" ? "semi-supervised" : "finetuned",
                     LabelsText(column));
}

std::string Marked(const std::string& text, int place) {
  if (place == 1) return "**" + text + "**";
  return place == 2 ? "<u>" + text + "</u>" : text;
}

// A number of ours with its deviation, then the paper's.
std::string CellText(const ResultTable& table, size_t row, size_t column) {
  const TableCell& cell = table.cells[row][column];
  std::string text = "-";
  if (!cell.failed.empty()) text = "failed";
  if (!cell.scores.empty()) {
    text = Marked(Shown(cell.Mean()), cell.place);
    if (cell.scores.size() > 1) text += " ± " + Shown(cell.Deviation());
    if (const auto note = SeedsNote(table, row, column); !note.empty()) text += ", " + note;
  }
  if (cell.paper) text += fmt::format(" ({})", Marked(Shown(*cell.paper), cell.paper_place));
  return text;
}

// How the numbers were obtained, each way once.
std::set<std::string> Protocols(const ResultTable& table) {
  std::set<std::string> protocols;
  for (const auto& row : table.cells) {
    for (size_t column = 0; column < row.size(); ++column) {
      for (const auto& score : row[column].scores) {
        if (!score.provenance.contains("protocol")) continue;
        protocols.insert(fmt::format("{}, {}", table.columns[column].metric,
                                     score.provenance["protocol"].get<std::string>()));
      }
    }
  }
  return protocols;
}

}  // namespace

std::set<uint64_t> TableCell::Seeds() const {
  std::set<uint64_t> seeds;
  for (const auto& score : scores) seeds.insert(score.seed);
  return seeds;
}

double TableCell::Mean() const {
  double sum = 0;
  for (const auto& score : scores) sum += score.accuracy;
  return sum / static_cast<double>(scores.size());
}

double TableCell::Deviation() const {
  if (scores.size() < 2) return 0;
  const double mean = Mean();
  double squares = 0;
  for (const auto& score : scores) squares += (score.accuracy - mean) * (score.accuracy - mean);
  return std::sqrt(squares / static_cast<double>(scores.size() - 1));
}

ResultTable EmptyTable(std::string name, std::string title, std::string scale,
                       std::vector<TableRow> rows, std::vector<TableColumn> columns) {
  ResultTable table = {std::move(name), std::move(title),   std::move(scale),
                       std::move(rows), std::move(columns), {}};
  for (const auto& row : table.rows) {
    auto& cells = table.cells.emplace_back();
    for (const auto& column : table.columns) {
      TableCell& cell = cells.emplace_back();
      cell.paper = PaperNumber({table.name, column.dataset, column.setting, column.metric,
                                column.labels, row.paper.empty() ? row.name : row.paper});
    }
  }
  return table;
}

std::set<uint64_t> UsualSeeds(const ResultTable& table, size_t column) {
  std::map<std::set<uint64_t>, int> cells;
  for (size_t row = 0; row < table.rows.size(); ++row) {
    if (table.rows[row].role == RowRole::kReference) continue;
    if (const auto seeds = table.cells[row][column].Seeds(); !seeds.empty()) ++cells[seeds];
  }
  std::set<uint64_t> usual;
  int most = 0;
  for (const auto& [seeds, count] : cells) {
    if (count > most || (count == most && seeds.size() > usual.size())) {
      most = count;
      usual = seeds;
    }
  }
  return usual;
}

void MarkPlaces(ResultTable& table) {
  for (size_t column = 0; column < table.columns.size(); ++column) {
    // A mean over other seeds is another quantity: seeds differ by as much as methods do.
    const auto own = [seeds = UsualSeeds(table, column)](const TableCell& cell) {
      return !cell.scores.empty() && cell.Seeds() == seeds ? std::optional(cell.Mean())
                                                           : std::nullopt;
    };
    Place(table, column, own, [](TableCell& cell, int place) { cell.place = place; });
    Place(
        table, column, [](const TableCell& cell) { return cell.paper; },
        [](TableCell& cell, int place) { cell.paper_place = place; });
  }
}

std::string ToMarkdown(const ResultTable& table) {
  std::string text = fmt::format("## {}\n\n", table.title);
  std::vector<std::string> datasets;
  for (const auto& column : table.columns) {
    if (std::find(datasets.begin(), datasets.end(), column.dataset) == datasets.end()) {
      datasets.push_back(column.dataset);
    }
  }
  for (const auto& dataset : datasets) {
    text += fmt::format("### {}\n\n| |", DatasetTitle(dataset));
    std::string rule = "|---|";
    for (const auto& column : table.columns) {
      if (column.dataset != dataset) continue;
      text += fmt::format(" {}, {} |", SettingTitle(column.setting), MetricTitle(column));
      rule += "---|";
    }
    text += "\n" + rule + "\n";
    for (size_t row = 0; row < table.rows.size(); ++row) {
      text += fmt::format("| {} |", table.rows[row].title);
      for (size_t column = 0; column < table.columns.size(); ++column) {
        if (table.columns[column].dataset == dataset) {
          text += fmt::format(" {} |", CellText(table, row, column));
        }
      }
      text += "\n";
    }
    text += "\n";
  }
  for (const auto& protocol : Protocols(table)) text += fmt::format("- Protocol: {}.\n", protocol);
  if (const std::string note = ErrorNote(table); !note.empty()) text += "- " + note + ".\n";
  for (const auto& row : table.rows) {
    if (!row.note.empty()) text += fmt::format("- {}: {}.\n", row.title, row.note);
  }
  for (const auto& note : MissingNotes(table)) {
    text += fmt::format("- Not run, so that marks are among the others, on {}.\n", note);
  }
  for (const auto& note : OrderNotes(table)) {
    text += fmt::format("- Another order than the paper's on {}.\n", note);
  }
  for (const auto& note : PairedNotes(table)) {
    text += fmt::format("- Differences within a seed with 95 % intervals, {}.\n", note);
  }
  for (const auto& note : CostNotes(table)) {
    text += fmt::format("- Seconds of one core for training, {}.\n", note);
  }
  for (size_t row = 0; row < table.rows.size(); ++row) {
    for (size_t column = 0; column < table.columns.size(); ++column) {
      const std::string& failed = table.cells[row][column].failed;
      if (failed.empty()) continue;
      text += fmt::format("- Failed: {} on {}: {}\n", table.rows[row].title,
                          ColumnTitle(table.columns[column]), failed);
    }
  }
  return text + "\n";
}

std::string ToCsv(const std::vector<ResultTable>& tables) {
  std::string text =
      "table,scale,dataset,setting,metric,labels,row,role,mean,deviation,seeds,place,paper,"
      "paper_place\n";
  for (const auto& table : tables) {
    for (size_t row = 0; row < table.rows.size(); ++row) {
      for (size_t column = 0; column < table.columns.size(); ++column) {
        const TableCell& cell = table.cells[row][column];
        const TableColumn& at = table.columns[column];
        if (cell.scores.empty() && !cell.paper) continue;
        text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", table.name, table.scale,
                            at.dataset, at.setting, at.metric, at.labels, table.rows[row].name,
                            kRoles[static_cast<int>(table.rows[row].role)],
                            cell.scores.empty() ? "" : fmt::format("{:.4f}", cell.Mean()),
                            cell.scores.size() < 2 ? "" : fmt::format("{:.4f}", cell.Deviation()),
                            cell.scores.size(), cell.place, cell.paper ? Shown(*cell.paper) : "",
                            cell.paper_place);
      }
    }
  }
  return text;
}

Json ToJson(const ResultTable& table) {
  Json json = {{"name", table.name}, {"title", table.title}, {"scale", table.scale}};
  json["rows"] = Json::array();
  json["columns"] = Json::array();
  json["cells"] = Json::array();
  json["order_notes"] = OrderNotes(table);
  json["paired_notes"] = PairedNotes(table);
  json["cost_notes"] = CostNotes(table);
  json["missing_notes"] = MissingNotes(table);
  json["error_note"] = ErrorNote(table);
  json["protocols"] = Protocols(table);
  for (const auto& row : table.rows) {
    json["rows"].push_back({{"name", row.name},
                            {"title", row.title},
                            {"role", kRoles[static_cast<int>(row.role)]},
                            {"note", row.note}});
  }
  for (const auto& column : table.columns) {
    json["columns"].push_back({{"dataset", column.dataset},
                               {"setting", column.setting},
                               {"metric", column.metric},
                               {"labels", column.labels},
                               {"title", ColumnTitle(column)}});
  }
  for (size_t row = 0; row < table.cells.size(); ++row) {
    Json cells = Json::array();
    for (size_t column = 0; column < table.columns.size(); ++column) {
      const TableCell& cell = table.cells[row][column];
      Json each = Json::object();
      if (!cell.scores.empty()) {
        each["mean"] = cell.Mean();
        each["text"] = Shown(cell.Mean());
        if (cell.scores.size() > 1) {
          each["deviation"] = cell.Deviation();
          each["deviation_text"] = Shown(cell.Deviation());
        }
        each["place"] = cell.place;
        if (const auto note = SeedsNote(table, row, column); !note.empty()) {
          each["seeds_note"] = note;
        }
        for (const auto& score : cell.scores) {
          Json one = {
              {"seed", score.seed}, {"accuracy", score.accuracy}, {"text", Shown(score.accuracy)}};
          one.update(score.provenance);
          each["scores"].push_back(one);
        }
      }
      if (cell.paper) {
        each["paper"] = *cell.paper;
        each["paper_text"] = Shown(*cell.paper);
        each["paper_place"] = cell.paper_place;
      }
      if (!cell.failed.empty()) each["failed"] = cell.failed;
      cells.push_back(each);
    }
    json["cells"].push_back(cells);
  }
  return json;
}

std::string ColumnTitle(const TableColumn& column) {
  return fmt::format("{}, {}, {}", DatasetTitle(column.dataset), SettingTitle(column.setting),
                     MetricTitle(column));
}

std::string SettingTitle(const std::string& setting) {
  static const std::map<std::string, std::string> kTitles = {{"iid", "IID"},
                                                             {"noniid1", "non-IID 1"},
                                                             {"noniid2", "non-IID 2"},
                                                             {"oneclass", "one class per client"}};
  const auto at = kTitles.find(setting);
  return at == kTitles.end() ? setting : at->second;
}

std::string DatasetTitle(const std::string& dataset) {
  static const std::map<std::string, std::string> kTitles = {{"cifar10", "CIFAR-10"},
                                                             {"cifar100", "CIFAR-100"},
                                                             {"fashion-mnist", "Fashion-MNIST"},
                                                             {"mnist", "MNIST"}};
  const auto at = kTitles.find(dataset);
  return at == kTitles.end() ? dataset : at->second;
}

}  // namespace kindred

#include "report/paper_numbers.h"

#include <map>
#include <sstream>

#include "base/embedded.h"
#include "base/error.h"

namespace kindred {
namespace {

std::map<CellKey, double> Read() {
  std::map<CellKey, double> numbers;
  std::istringstream lines{std::string(EmbeddedFile("paper_numbers.csv"))};
  std::string line;
  std::getline(lines, line);  // the heading
  while (std::getline(lines, line)) {
    std::istringstream cells(line);
    CellKey key;
    std::string accuracy;
    for (std::string* cell :
         {&key.table, &key.dataset, &key.setting, &key.metric, &key.labels, &key.row, &accuracy}) {
      std::getline(cells, *cell, ',');
    }
    Check(numbers.emplace(key, std::stod(accuracy)).second, "two of one number of the paper");
  }
  return numbers;
}

}  // namespace

std::optional<double> PaperNumber(const CellKey& key) {
  static const auto kNumbers = Read();
  const auto at = kNumbers.find(key);
  return at == kNumbers.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace kindred

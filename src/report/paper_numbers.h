// Every number of the paper's tables and of its ablation figure, from paper_numbers.csv.
#pragma once

#include <compare>
#include <optional>
#include <string>

namespace kindred {

// Which number of which table. Names are those of configurations: cifar10, noniid1, ccl.
struct CellKey {
  std::string table;    // linear, semi, finetune, ablation
  std::string dataset;  // data.name
  std::string setting;  // partition.scheme
  std::string metric;   // linear, semi, finetune
  std::string labels;   // the share of them that is used: 1, 0.1, 0.01
  std::string row;      // a method, or a step of the ablation

  auto operator<=>(const CellKey&) const = default;
};

// In percent; nullopt where the paper has none.
std::optional<double> PaperNumber(const CellKey& key);

}  // namespace kindred

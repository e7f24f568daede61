// A table of results with numbers of ours.
#pragma once

#include <vector>

#include "report/result_table.h"

namespace kindred {

// FedRot, FedSimCLR and CCL on CIFAR-10, non-IID 1, with an upper bound.
inline ResultTable Filled(const std::vector<std::vector<double>>& accuracies) {
  ResultTable table = EmptyTable("linear", "Linear", "lab",
                                 {{"rotation", "FedRot"},
                                  {"simclr", "FedSimCLR"},
                                  {.name = "ccl", .title = "CCL", .yardstick = true},
                                  {"supervised", "FedAvg", RowRole::kReference}},
                                 {{"cifar10", "noniid1", "linear", "1"}});
  for (size_t row = 0; row < accuracies.size(); ++row) {
    for (const double accuracy : accuracies[row]) {
      auto& scores = table.cells[row][0].scores;
      scores.push_back({.seed = scores.size(), .accuracy = accuracy, .provenance = Json::object()});
    }
  }
  MarkPlaces(table);
  return table;
}

}  // namespace kindred

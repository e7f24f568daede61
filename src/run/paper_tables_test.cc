#include "run/paper_tables.h"

#include <gtest/gtest.h>

#include <map>

namespace kindred {
namespace {

TEST(TableKinds, HaveARowForEveryNumberOfThePaper) {
  // 66, 84, 84 and 6 numbers: counted in the paper's tables and text.
  const std::map<std::string, int> counts = {
      {"linear", 66}, {"semi", 84}, {"finetune", 84}, {"ablation", 6}};
  for (const auto& kind : TableKinds()) {
    int found = 0;
    for (const auto& row : kind.rows) {
      for (const char* dataset : kind.datasets) {
        for (const char* setting : kind.settings) {
          for (const auto& [metric, labels] : kind.looks) {
            found += PaperNumber({kind.name, dataset, setting, metric, labels, row.row.name})
                         .has_value();
          }
        }
      }
    }
    EXPECT_EQ(found, counts.at(kind.name)) << kind.name;
  }
}

TEST(RunConfig, IsTheScalesWithTheRowsOver) {
  for (const auto& kind : TableKinds()) {
    for (const auto& row : kind.rows) {
      for (const char* scale : ScaleNames()) {
        const TableChoice choice = {.scale = scale};
        const Resolved resolved = RunConfig(row, choice, "fashion-mnist", "noniid2", 3);
        const Experiment& experiment = *resolved.experiment;
        EXPECT_EQ(experiment.data.name, "fashion-mnist");
        EXPECT_EQ(experiment.train.seed, 3);
        const bool one = row.encoder == RowEncoder::kCentralized;
        EXPECT_EQ(experiment.partition.scheme, one ? "iid" : "noniid2");
        EXPECT_EQ(experiment.partition.clients, one ? 1 : 0);
      }
    }
  }
}

}  // namespace
}  // namespace kindred

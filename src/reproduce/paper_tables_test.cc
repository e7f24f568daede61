#include "reproduce/paper_tables.h"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/json.h"
#include "method/method.h"

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

// The settings that results/comparison.md chose for lab are of lab alone, and of every row of a
// method.
TEST(RunConfig, HasWhatWasChosenForAMethodAtAScale) {
  const auto resolved = [](const char* table, const char* row, const char* scale) {
    for (const auto& kind : TableKinds()) {
      if (std::string(kind.name) != table) continue;
      for (const auto& each : kind.rows) {
        if (each.row.name != row) continue;
        return RunConfig(each, {.scale = scale}, "cifar10", "noniid1", 0);
      }
    }
    throw std::runtime_error("no such row");
  };
  const auto simclr = resolved("linear", "simclr", "lab");
  EXPECT_EQ(simclr.experiment->train.batch, 32);
  EXPECT_EQ(Json::parse(simclr.config.ToJson())["simclr"]["tau"], .2);
  EXPECT_EQ(resolved("linear", "simclr", "small").experiment->train.batch, 64);
  for (const char* row : {"cl", "cl_ff", "cl_ff_nm", "paper_ff_nm"}) {
    const auto ccl = resolved("ablation", row, "lab");
    EXPECT_EQ(Json::parse(ccl.config.ToJson())["ccl"]["tau"], .2) << row;
    EXPECT_EQ(ccl.experiment->train.lr, .12) << row;
  }
  const TableChoice over = {.scale = "lab", .assignments = {"train.batch=16"}};
  for (const auto& row : TableKinds()[0].rows) {
    EXPECT_EQ(RunConfig(row, over, "cifar10", "iid", 0).experiment->train.batch, 16);
  }
}

// One file per method over one file per scale, and one more where a scale has its own for a method:
// each is a configuration that can be trained.
TEST(Configs, EveryMethodCanBeMadeAtEveryScale) {
  const std::filesystem::path folder = std::string(KINDRED_SOURCE_DIR) + "/configs";
  std::vector<std::string> scales = {"demo"};
  scales.insert(scales.end(), ScaleNames().begin(), ScaleNames().end());
  for (const auto& scale : scales) {
    for (const auto& kind : MethodKinds()) {
      Experiment experiment;
      Config config = BindExperiment(experiment);
      config.ApplyFile(folder / (scale + ".toml"));
      config.ApplyFile(folder / "methods" / (std::string(kind.name) + ".toml"));
      const auto tuned = folder / scale / (std::string(kind.name) + ".toml");
      if (std::filesystem::exists(tuned)) config.ApplyFile(tuned);
      EXPECT_EQ(experiment.method.name, kind.name);
      EXPECT_EQ(experiment.train.batch % experiment.model.bn_splits, 0) << scale << kind.name;
      const auto method = MakeMethod({.model = experiment.model,
                                      .method = experiment.method,
                                      .privacy = experiment.privacy,
                                      .features = experiment.features,
                                      .channels = experiment.data.channels,
                                      .classes = 10,
                                      .batch = experiment.train.batch});
      EXPECT_FALSE(Under(method->Shared(), method->EncoderPrefix()).empty());
    }
  }
}

}  // namespace
}  // namespace kindred

#include "run/reproduction.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "base/file.h"
#include "client/round.h"
#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

TableChoice TinyChoice() {
  return {.tables = {"linear", "ablation"},
          .datasets = {"shapes"},
          .settings = {"noniid1"},
          .methods = {"ccl", "random", "moco", "cl", "cl_ff_nm"},
          .scale = "tiny",
          .assignments = {"eval.limit=60", "train.rounds=1"}};
}

std::map<std::string, std::filesystem::file_time_type> FilesOf(const std::filesystem::path& path) {
  std::map<std::string, std::filesystem::file_time_type> times;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    times[entry.path().filename().string()] = entry.last_write_time();
  }
  return times;
}

TEST(Reproduction, TrainsWhatCellsShareOnceAndGoesOn) {
  const TemporaryFolder folder = TestFolder();
  const auto out = folder.path() / "out";
  const std::atomic<bool> stop = false;
  Reproduction first(TinyChoice(), out);
  const Json plan = first.PlanJson();
  // ccl is random's and cl_ff_nm's run too; cl's has five clients, moco's one.
  EXPECT_EQ(plan["runs"].size(), 3);
  EXPECT_EQ(plan["scores"].size(), 7);
  first.Run(stop);
  EXPECT_TRUE(first.Failures().empty());
  const auto scores = FilesOf(out / "scores");
  EXPECT_EQ(scores.size(), 6);  // linear of ccl stands in two tables
  const auto tables = first.Tables();
  ASSERT_EQ(tables.size(), 2);
  for (const auto& table : tables) {
    for (const auto& row : table.cells) {
      for (const auto& cell : row) {
        ASSERT_EQ(cell.scores.size(), 1);
        EXPECT_TRUE(cell.scores[0].provenance.contains("data_hash"));
        EXPECT_TRUE(cell.scores[0].provenance.contains("protocol"));
      }
    }
  }
  for (const char* name : {"tables.md", "tables.csv", "tables.json"}) {
    EXPECT_TRUE(FileExists(out / name)) << name;
  }
  // Again: nothing is left to do, and nothing is done.
  Reproduction second(TinyChoice(), out);
  for (const auto& score : second.PlanJson()["scores"]) EXPECT_TRUE(score["done"]) << score;
  second.Run(stop);
  EXPECT_EQ(FilesOf(out / "scores"), scores);
  // One of them gone: that one alone is made again.
  const std::string gone = scores.begin()->first;
  std::filesystem::remove(out / "scores" / gone);
  Reproduction third(TinyChoice(), out);
  third.Run(stop);
  auto now = FilesOf(out / "scores");
  EXPECT_TRUE(now.contains(gone));
  now[gone] = scores.at(gone);
  EXPECT_EQ(now, scores);
}

TEST(Reproduction, AScoreOfAnotherConfigurationDoesNotCount) {
  const TemporaryFolder folder = TestFolder();
  const auto out = folder.path() / "out";
  const std::atomic<bool> stop = false;
  TableChoice choice = TinyChoice();
  choice.tables = {"linear"};
  choice.methods = {"random"};
  Reproduction(choice, out).Run(stop);
  Reproduction same(choice, out);
  EXPECT_TRUE(same.PlanJson()["scores"][0]["done"]);
  const auto done = [&](const TableChoice& wanted) {
    return Reproduction(wanted, out).PlanJson()["scores"][0]["done"].get<bool>();
  };
  TableChoice other = choice;
  other.assignments.push_back("eval.limit=50");  // other test images
  EXPECT_FALSE(done(other));
  const auto file = out / "scores" / same.PlanJson()["scores"][0]["file"].get<std::string>();
  const Bytes bytes = ReadFile(file, 1 << 20);
  const Json score = Json::parse(bytes.begin(), bytes.end());
  for (const char* key : {"run_config_hash", "protocol", "seed", "accuracy", "config"}) {
    Json changed = score;
    changed[key] = "another";
    if (std::string(key) == "config") changed[key] = Json::object();
    WriteFileAtomically(file, std::string_view(changed.dump()));
    EXPECT_FALSE(done(choice)) << key;
  }
  WriteFileAtomically(file, std::string_view(score.dump()));
  EXPECT_TRUE(done(choice));
}

TEST(Reproduction, ARunOfAnotherConfigurationIsLeftAlone) {
  const TemporaryFolder folder = TestFolder();
  const auto out = folder.path() / "out";
  const std::atomic<bool> stop = false;
  TableChoice choice = TinyChoice();
  choice.tables = {"linear"};
  choice.methods = {"random"};
  Reproduction(choice, out).Run(stop);
  choice.assignments.push_back("model.width=4");
  Reproduction other(choice, out);
  other.Run(stop);
  ASSERT_EQ(other.Failures().size(), 1);
  EXPECT_NE(other.Failures()[0].find("a run goes on as it began"), std::string::npos);
  EXPECT_TRUE(other.Tables()[0].cells[0][0].scores.empty());
  // Tables are handed on: they name no file.
  EXPECT_EQ(other.Tables()[0].cells[0][0].failed.find(folder.path().string()), std::string::npos);
}

TEST(Reproduction, WhatMakesACellIsNotForSet) {
  for (const char* assignment : {"partition.clients=10", "train.seed=7", "data.name=mnist",
                                 "method.name=ccl", "eval.seeds=3"}) {
    TableChoice choice = TinyChoice();
    choice.assignments = {assignment};
    ExpectError(ExitCode::kUsage, "the tables' own", [&] { Reproduction(choice, "/nonexistent"); });
  }
}

TEST(Reproduction, WhatFailsLeavesItsCellsEmpty) {
  const TemporaryFolder folder = TestFolder();
  const std::atomic<bool> stop = false;
  TableChoice choice = TinyChoice();
  choice.tables = {"linear"};
  choice.methods = {"ccl", "random"};
  choice.assignments.push_back("data.limit=200");
  choice.assignments.push_back("privacy.mix=64");  // more than a client has
  Reproduction reproduction(choice, folder.path() / "out");
  reproduction.Run(stop);
  EXPECT_EQ(reproduction.Failures().size(), 1);
  EXPECT_NE(reproduction.Tables()[0].cells[0][0].failed.find("privacy.mix"), std::string::npos);
}

TEST(Reproduction, StopsBetweenNumbers) {
  const TemporaryFolder folder = TestFolder();
  const std::atomic<bool> stop = true;
  Reproduction reproduction(TinyChoice(), folder.path() / "out");
  EXPECT_THROW(reproduction.Run(stop), Interrupted);
}

TEST(Reproduction, NamesWhatDoesNotExist) {
  const auto wrong = [](auto change, const std::string& part) {
    TableChoice choice = TinyChoice();
    change(choice);
    ExpectError(ExitCode::kUsage, part, [&] { Reproduction(choice, "/nonexistent"); });
  };
  wrong([](TableChoice& c) { c.tables = {"lineer"}; }, "did you mean linear?");
  wrong([](TableChoice& c) { c.scale = "smal"; }, "did you mean small?");
  wrong([](TableChoice& c) { c.methods = {"simclrr"}; }, "did you mean simclr?");
  wrong([](TableChoice& c) { c.datasets = {"cifar"}; }, "no such dataset");
  wrong([](TableChoice& c) { c.settings = {"noniid"}; }, "no such setting");
}

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

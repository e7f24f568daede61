#include "reproduce/reproduction.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "base/file.h"
#include "client/round.h"
#include "run/trained_encoder.h"
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

TableChoice RandomAlone() {
  TableChoice choice = TinyChoice();
  choice.tables = {"linear"};
  choice.methods = {"random"};
  return choice;
}

TableChoice CclAlone() {
  TableChoice choice = TinyChoice();
  choice.tables = {"linear"};
  choice.methods = {"ccl"};
  return choice;
}

std::map<std::string, std::filesystem::file_time_type> FilesOf(const std::filesystem::path& path) {
  std::map<std::string, std::filesystem::file_time_type> times;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    times[entry.path().filename().string()] = entry.last_write_time();
  }
  return times;
}

// How many numbers are there already.
int DoneIn(const Reproduction& reproduction) {
  const Json plan = reproduction.PlanJson();
  int done = 0;
  for (const auto& score : plan["scores"]) done += score["done"].get<bool>();
  return done;
}

TEST(Reproduction, TrainsWhatCellsShareOnceAndGoesOn) {
  const TemporaryFolder folder = TestFolder();
  const auto out = folder.path() / "out";
  const std::atomic<bool> stop = false;
  Reproduction first(TinyChoice(), out);
  const Json plan = first.PlanJson();
  // ccl is random's and cl_ff_nm's run too; cl's has five clients, moco's one.
  EXPECT_EQ(plan["runs"].size(), 3);
  EXPECT_EQ(plan["scores"].size(), 8);
  first.Run(stop);
  EXPECT_TRUE(first.Failures().empty());
  const auto scores = FilesOf(out / "scores");
  EXPECT_EQ(scores.size(), 6);  // linear of ccl and of cl stands in two tables
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
  EXPECT_EQ(DoneIn(second), 8);
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
  TableChoice choice = RandomAlone();
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
  for (const char* key : {"run_config_hash", "protocol", "seed", "accuracy", "eval"}) {
    Json changed = score;
    changed[key] = "another";
    WriteFileAtomically(file, std::string_view(changed.dump()));
    EXPECT_FALSE(done(choice)) << key;
  }
  WriteFileAtomically(file, std::string_view(score.dump()));
  EXPECT_TRUE(done(choice));
}

TEST(Reproduction, NumbersOfAnotherMachineAreNotMadeAgain) {
  const TemporaryFolder folder = TestFolder();
  const auto there = folder.path() / "there", here = folder.path() / "here";
  const std::atomic<bool> stop = false;
  TableChoice choice = TinyChoice();
  choice.methods = {"random"};
  Reproduction(choice, there).Run(stop);
  choice.methods = {"random", "ccl", "cl_ff_nm"};
  Reproduction reproduction(choice, here, {there / "tables.json"});
  EXPECT_EQ(DoneIn(reproduction), 1);
  reproduction.Run(stop);
  for (const auto& [name, time] : FilesOf(here / "scores")) {
    EXPECT_EQ(name.find("-random"), std::string::npos) << name;
  }
  const auto linear = [](const std::filesystem::path& path) {
    const Bytes bytes = ReadFile(path / "tables.json", 1 << 20);
    const Json table = Json::parse(bytes.begin(), bytes.end())["tables"][0];
    for (size_t row = 0; row < table["rows"].size(); ++row) {
      if (table["rows"][row]["name"] == "random") return table["cells"][row][0]["scores"];
    }
    return Json();
  };
  EXPECT_FALSE(linear(there).is_null());
  EXPECT_EQ(linear(here), linear(there));
  // With other test images it is another number.
  choice.assignments.push_back("eval.limit=50");
  EXPECT_EQ(DoneIn(Reproduction(choice, folder.path() / "other", {there / "tables.json"})), 0);
}

TEST(Reproduction, TablesOfKnownNumbersAloneComeInANewFolder) {
  const TemporaryFolder folder = TestFolder();
  const auto there = folder.path() / "there", here = folder.path() / "new" / "here";
  const std::atomic<bool> stop = false;
  Reproduction(RandomAlone(), there).Run(stop);
  const Reproduction known(RandomAlone(), here, {there / "tables.json"});
  known.WriteTables();
  EXPECT_EQ(ReadFile(here / "tables.json", 1 << 20), ReadFile(there / "tables.json", 1 << 20));
  EXPECT_FALSE(FileExists(here / "scores"));
  const FolderLock another(here);
  ExpectError(ExitCode::kExists, "here", [&] { known.WriteTables(); });
}

TEST(Reproduction, ARunThatNoNumberNeedsCannotFail) {
  const TemporaryFolder folder = TestFolder();
  const auto there = folder.path() / "there", here = folder.path() / "here";
  const std::atomic<bool> stop = false;
  Reproduction(RandomAlone(), there).Run(stop);
  TableChoice other = RandomAlone();
  other.assignments.push_back("model.width=4");
  Reproduction(other, here).Run(stop);  // the run's folder is of another configuration
  ExpectError(ExitCode::kExists, "was started with", [&] { Reproduction(RandomAlone(), here); });
  const Reproduction known(RandomAlone(), here, {there / "tables.json"});
  EXPECT_TRUE(known.Failures().empty());
  EXPECT_EQ(known.Taken(), 1);
  EXPECT_EQ(known.Tables()[0].cells[0][0].failed, "");
}

TEST(Reproduction, PlansByWhatIsMeasuredAndSaysWhatIsMissing) {
  const std::atomic<bool> stop = false;
  TableChoice choice = RandomAlone();
  choice.methods = {"moco"};
  Reproduction reproduction(choice, "/nonexistent");
  reproduction.Estimate(stop);
  const Json plan = reproduction.PlanJson();
  EXPECT_GT(plan["runs"][0]["seconds"], 0);
  EXPECT_GT(plan["scores"][0]["seconds"], 0);
  EXPECT_TRUE(plan["missing"].empty());
  const std::string text = reproduction.PlanText();
  EXPECT_NE(text.find("moco-shapes-centralized-0"), std::string::npos) << text;
  EXPECT_NE(text.find("1 of 1 runs to train, 1 of 1 numbers to evaluate: about "),
            std::string::npos)
      << text;
  choice.datasets = {"cifar10"};
  choice.assignments.push_back("data.path=/nonexistent");
  Reproduction without(choice, "/nonexistent");
  without.Estimate(stop);
  EXPECT_TRUE(without.PlanJson()["missing"].contains("cifar10"));
  const std::string lines = without.PlanText();
  EXPECT_NE(lines.find("what needs cifar10 is not counted: "), std::string::npos) << lines;
  EXPECT_NE(lines.find("more than"), std::string::npos) << lines;
  EXPECT_NE(lines.find("?"), std::string::npos) << lines;
}

TEST(Reproduction, TablesOfAnotherConfigurationAreLeftAlone) {
  const TemporaryFolder folder = TestFolder();
  const auto out = folder.path() / "out";
  const std::atomic<bool> stop = false;
  TableChoice choice = RandomAlone();
  Reproduction(choice, out).Run(stop);
  choice.assignments.push_back("model.width=4");
  ExpectError(ExitCode::kExists, "resume with the original settings",
              [&] { Reproduction(choice, out); });
}

// The folder's configuration may leave out what its version did not know: the hash tells.
TEST(Reproduction, AFinishedRunCountsByItsHash) {
  const TemporaryFolder folder = TestFolder();
  const auto out = folder.path() / "out";
  const std::atomic<bool> stop = false;
  TableChoice choice = CclAlone();
  Reproduction(choice, out).Run(stop);
  std::filesystem::remove_all(out / "scores");
  const auto path = out / "runs" / "ccl-shapes-noniid1-0" / "summary.json";
  const Bytes bytes = ReadFile(path, 1 << 20);
  Json summary = Json::parse(bytes.begin(), bytes.end());
  summary["config_hash"] = "another";
  WriteFileAtomically(path, std::string_view(summary.dump()));
  ExpectError(ExitCode::kExists, "trained with other settings", [&] { Reproduction(choice, out); });
}

TEST(Reproduction, ADamagedLastCheckpointIsTrainedAgain) {
  const TemporaryFolder folder = TestFolder();
  const auto out = folder.path() / "out";
  const std::atomic<bool> stop = false;
  TableChoice choice = CclAlone();
  choice.assignments = {"eval.limit=60", "train.rounds=2"};
  Reproduction first(choice, out);
  first.Run(stop);
  const double accuracy = first.Tables()[0].cells[0][0].Mean();
  std::filesystem::remove_all(out / "scores");
  const auto run = out / "runs" / "ccl-shapes-noniid1-0";
  std::filesystem::resize_file(run / "checkpoints" / "round-2.safetensors", 2000);
  Reproduction again(choice, out);
  again.Run(stop);
  EXPECT_TRUE(again.Failures().empty());
  EXPECT_EQ(again.Tables()[0].cells[0][0].Mean(), accuracy);
  EXPECT_EQ(OpenTrainedEncoder(run.string()).origin["round"], 2);
}

// Tables are handed on: they name no file.
TEST(Reproduction, AFailureInATableNamesNoFile) {
  const TemporaryFolder folder = TestFolder();
  const auto out = folder.path() / "out";
  const std::atomic<bool> stop = false;
  MakeFolder(out / "runs");
  WriteFileAtomically(out / "runs" / "ccl-shapes-noniid1-0", std::string_view("in the way"));
  Reproduction reproduction(RandomAlone(), out);
  reproduction.Run(stop);
  ASSERT_EQ(reproduction.Failures().size(), 1);
  const std::string told = reproduction.Tables()[0].cells[0][0].failed;
  EXPECT_NE(told, "");
  EXPECT_EQ(told.find(folder.path().string()), std::string::npos) << told;
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

}  // namespace
}  // namespace kindred

#include "record/run_dir.h"

#include <gtest/gtest.h>

#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

TEST(RunDir, CreateMakesTheFolderWithItsConfiguration) {
  const auto folder = TestFolder();
  const auto path = folder.path() / "runs" / "a";
  const RunDir run(path);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "runs")) << "naming a run makes nothing";
  run.Create({"rounds = 3\n", "{}"});
  EXPECT_EQ(run.path(), path);
  EXPECT_EQ(FilesBelow(path), (std::set<std::string>{"checkpoints", "config.json", "config.toml"}));
  EXPECT_TRUE(std::filesystem::is_directory(run.checkpoints()));
  const Bytes config = ReadFile(run.config(), 1000);
  EXPECT_EQ(std::string(config.begin(), config.end()), "rounds = 3\n");
}

TEST(RunDir, CreateWhereAFileIsInTheWayIsADataError) {
  const auto folder = TestFolder();
  WriteFileAtomically(folder.path() / "file", "x");
  ExpectError(ExitCode::kData, "file", [&] {
    RunDir(folder.path() / "file" / "run").Create({"", "{}"});
  });
}

TEST(RunDir, AnEmptyOrMissingFolderIsNotUsed) {
  const auto folder = TestFolder();
  EXPECT_NO_THROW(RunDir::RefuseUsed(folder.path()));
  EXPECT_NO_THROW(RunDir::RefuseUsed(folder.path() / "none" / "yet"));
  EXPECT_TRUE(FilesBelow(folder.path()).empty()) << "asking makes nothing";
}

TEST(RunDir, RefusesAFolderThatHoldsSomething) {
  const auto folder = TestFolder();
  RunDir(folder.path() / "run").Create({"", "{}"});
  ExpectError(ExitCode::kExists, "--resume", [&] { RunDir::RefuseUsed(folder.path() / "run"); });
  std::filesystem::create_directory(folder.path() / "other");
  WriteFileAtomically(folder.path() / "other" / ".hidden", "x");
  ExpectError(ExitCode::kExists, "other", [&] { RunDir::RefuseUsed(folder.path() / "other"); });
  WriteFileAtomically(folder.path() / "file", "x");
  ExpectError(ExitCode::kExists, "file", [&] { RunDir::RefuseUsed(folder.path() / "file"); });
}

TEST(RunDir, PlacesAreAllDifferentAndInside) {
  const auto folder = TestFolder();
  const RunDir run(folder.path());
  run.Create({"", "{}"});
  std::set<std::string> places;
  for (const auto& place :
       {run.config(), run.metrics(), run.summary(), run.log(), run.checkpoints(), run.scratch()}) {
    EXPECT_EQ(place.parent_path(), folder.path());
    places.insert(place.filename().string());
  }
  EXPECT_EQ(places, (std::set<std::string>{"checkpoints", "config.toml", "metrics.jsonl", "scratch",
                                           "summary.json", "train.log"}));
}

}  // namespace
}  // namespace kindred

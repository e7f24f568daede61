#include "reproduce/score_files.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

const ScoreKey kScore = {.file = "a-run.linear.json",
                         .config_hash = "abc",
                         .seed = 3,
                         .protocol = "fast",
                         .eval = {{"limit", 60}},
                         .round = 2};

Json Scored(double accuracy) {
  return {{"seed", 3}, {"protocol", "fast"}, {"accuracy", accuracy}, {"data_hash", "d"}};
}

// A tables.json with one number, in percent.
void WriteTable(const std::filesystem::path& path, const Json& change) {
  Json score = Scored(12.345);
  score.update({{"file", kScore.file}, {"run_config_hash", "abc"}, {"eval", kScore.eval}});
  score.update(change);
  const Json cell = {{"scores", Json::array({score})}};
  const Json table = {{"cells", Json::array({Json::array({Json::object(), cell})})}};
  WriteFileAtomically(path, std::string_view(Json{{"tables", Json::array({table})}}.dump()));
}

TEST(ScoreFiles, FindWhatTheyKeep) {
  const TemporaryFolder folder = TestFolder();
  const ScoreFiles files(folder.path() / "scores", {});
  EXPECT_TRUE(files.Find(kScore).is_null());
  files.Write(kScore, Scored(0.5));
  EXPECT_EQ(files.Find(kScore)["accuracy"], 50);
  EXPECT_EQ(files.Find(kScore)["data_hash"], "d");
  const auto other = [&](auto change) {
    ScoreKey key = kScore;
    change(key);
    return files.Find(key).is_null();
  };
  EXPECT_TRUE(other([](ScoreKey& key) { key.file = "b.json"; }));
  EXPECT_TRUE(other([](ScoreKey& key) { key.config_hash = "abd"; }));
  EXPECT_TRUE(other([](ScoreKey& key) { key.seed = 2; }));
  EXPECT_TRUE(other([](ScoreKey& key) { key.protocol = "slow"; }));
  EXPECT_TRUE(other([](ScoreKey& key) { key.eval["limit"] = 50; }));
  Json older = Scored(0.5);
  older["encoder"] = {{"round", 1}};
  files.Write(kScore, older);  // of the checkpoint before the last
  EXPECT_TRUE(files.Find(kScore).is_null());
  for (const double impossible : {5.0, -1.0, 1e300}) {
    files.Write(kScore, Scored(impossible));
    EXPECT_TRUE(files.Find(kScore).is_null()) << impossible;
  }
  WriteFileAtomically(folder.path() / "scores" / kScore.file, std::string_view("{half"));
  EXPECT_TRUE(files.Find(kScore).is_null());
}

TEST(ScoreFiles, TakeAnotherMachinesNumbersToTheDigitAfterTheirOwn) {
  const TemporaryFolder folder = TestFolder();
  const auto table = folder.path() / "tables.json";
  WriteTable(table, Json::object());
  const ScoreFiles files(folder.path() / "scores", {table});
  EXPECT_EQ(files.Find(kScore)["accuracy"], 12.345);
  EXPECT_TRUE(files.IsKnown(kScore));
  files.Write(kScore, Scored(0.5));
  EXPECT_EQ(files.Find(kScore)["accuracy"], 50);
  EXPECT_FALSE(files.IsKnown(kScore));
  for (const char* key : {"run_config_hash", "protocol", "seed", "accuracy", "eval", "file"}) {
    WriteTable(table, {{key, "another"}});
    EXPECT_TRUE(ScoreFiles(folder.path() / "none", {table}).Find(kScore).is_null()) << key;
  }
  for (const Json& change : {Json{{"accuracy", 5000}}, Json{{"round", 1}}}) {
    WriteTable(table, change);
    EXPECT_TRUE(ScoreFiles(folder.path() / "none", {table}).Find(kScore).is_null()) << change;
  }
}

TEST(ScoreFiles, AFileThatIsNoTableIsNamed) {
  const TemporaryFolder folder = TestFolder();
  const auto path = folder.path() / "tables.json";
  for (const char* text : {"", "{", "[]", "{\"tables\": 3}",
                           "{\"tables\": [{\"cells\": [[{\"scores\": [{\"seed\": 0}]}]]}]}"}) {
    WriteFileAtomically(path, std::string_view(text));
    ExpectError(ExitCode::kData, "tables.json", [&] { ScoreFiles(folder.path(), {path}); });
  }
  ExpectError(ExitCode::kData, "tables.json",
              [&] { ScoreFiles(folder.path(), {folder.path() / "no" / "tables.json"}); });
}

}  // namespace
}  // namespace kindred

#include "report/page_data.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file.h"
#include "tests/folders.h"

namespace kindred {
namespace {

Json Line(int round, std::vector<int> who, double loss) {
  return {{"kind", "round"}, {"round", round}, {"loss", loss}, {"who", who}};
}

TEST(RoundColumns, AreAsLongAsThereAreLines) {
  Json second = Line(2, {8}, 0.123456789);
  second["rank"] = 4;
  const Json all = RoundColumns({Line(1, {0, 2}, 3), second, Line(3, {}, 1)});
  EXPECT_EQ(all["rounds"], 3);
  EXPECT_EQ(all["columns"]["round"], (Json{1, 2, 3}));
  EXPECT_EQ(all["columns"]["loss"], (Json{3, 0.123457, 1}));
  EXPECT_EQ(all["columns"]["rank"], (Json{nullptr, 4, nullptr}));
  EXPECT_EQ(all["clients"], 9);
  EXPECT_EQ(all["who"], "BQAAAQAA");  // 05 00, 00 01, 00 00
}

TEST(RunData, IsMadeOfWhatIsThere) {
  const TemporaryFolder folder = TestFolder();
  const RunDir dir(folder.path() / "a-run");
  EXPECT_EQ(RunData(dir)["metrics"]["rounds"], 0);  // no folder at all
  MakeFolder(dir.page());
  WriteFileAtomically(dir.metrics(),
                      std::string_view("{\"kind\":\"knn\",\"round\":0,\"knn\":0.25}\nhalf a li"));
  WriteFileAtomically(dir.page() / "clients.json", std::string_view("not JSON"));
  WriteFileAtomically(dir.page() / "samples.json", std::string_view("{\"views\":\"\"}"));
  WriteFileAtomically(dir.audit(), std::string_view("{\"event\":\"accept\",\"client\":\"a\"}\n"
                                                    "{\"event\":\"miss\",\"client\":\"a\"}\n"));
  const Json data = RunData(dir);
  EXPECT_EQ(data["name"], "a-run");
  EXPECT_EQ(data["knn"]["knn"], (Json{0.25}));
  EXPECT_TRUE(data["clients"].is_null());
  EXPECT_TRUE(data["summary"].is_null());
  EXPECT_EQ(data["audit"]["counts"], (Json{{"accept", 1}, {"miss", 1}}));
  EXPECT_EQ(data["audit"]["by_client"], (Json{{"a", {{"miss", 1}}}}));
  EXPECT_EQ(data["audit"]["events"].size(), 1);  // the rounds tell who was accepted
  EXPECT_FALSE(data["samples"].is_null());
  EXPECT_TRUE(RunData(dir, {.samples = false})["samples"].is_null());
}

TEST(RunData, DamagedLinesAreMissingParts) {
  const TemporaryFolder folder = TestFolder();
  const RunDir dir(folder.path());
  WriteFileAtomically(dir.metrics(),
                      std::string_view("{\"kind\":\"knn\",\"round\":\"x\",\"knn\":0.25}\n"
                                       "{\"kind\":\"round\",\"round\":[],\"loss\":1}\n"
                                       "{\"kind\":\"eval\",\"accuracy\":\"x\"}\n"
                                       "{\"kind\":7}\n7\n"));
  WriteFileAtomically(dir.audit(), std::string_view("{\"event\":\"refuse\",\"more\":\"x\"}\n"
                                                    "{\"event\":7}\n"));
  const Json data = RunData(dir);
  EXPECT_TRUE(data["knn"]["knn"].empty());
  EXPECT_TRUE(data["evals"].empty());
  EXPECT_EQ(data["metrics"]["rounds"], 1);
  EXPECT_EQ(data["audit"]["counts"], (Json{{"refuse", 1}}));
}

TEST(RunData, SaysWhatIsDamaged) {
  const TemporaryFolder folder = TestFolder();
  const RunDir dir(folder.path() / "run");
  dir.Create({"[train]\nrounds = 2\n", "{\"train\":{\"rounds\":2}}"});
  const auto write = [&](const std::string& metrics, const std::string& summary) {
    WriteFileAtomically(dir.metrics(), std::string_view(metrics));
    WriteFileAtomically(dir.summary(), std::string_view(summary));
    EXPECT_FALSE(RunData(dir).contains("damage")) << "a run that goes on has parts to come";
    return RunData(dir, {.damage = true})["damage"];
  };
  const std::string first = Line(1, {0}, 3).dump() + "\n", second = Line(2, {0}, 2).dump() + "\n";
  EXPECT_EQ(write(first + second, "{\"rounds\":2}"), Json::array());
  EXPECT_EQ(write(first + second + "{\"kind\":\"knn\"", "{\"rounds\":2}"),
            Json::array());  // a line that is being written
  EXPECT_EQ(write(first + "{half\n" + second, "{\"rounds\":2}"),
            (Json{"metrics.jsonl: 1 line could not be read"}));
  EXPECT_EQ(
      write(first, "{\"rounds\":2}"),
      (Json{"metrics.jsonl ends with round 1, summary.json tells of 2: charts are not whole"}));
  EXPECT_EQ(write(first, "{half"), (Json{"summary.json could not be read"}));
  EXPECT_EQ(write("", R"({"rounds":2,"role":"client"})"), Json::array());
  MakeFolder(dir.page());
  WriteFileAtomically(dir.page() / "embedding.json", std::string_view("7"));
  EXPECT_EQ(write(first + second, "{\"rounds\":2}"), (Json{"embedding.json could not be read"}));
  // Deep enough to end a program that prints it.
  const std::string deep = "{\"a\":" + std::string(200'000, '[') + std::string(200'000, ']') + "}";
  WriteFileAtomically(dir.page() / "embedding.json", std::string_view(deep));
  EXPECT_EQ(write(first + second, "{\"rounds\":2}"), (Json{"embedding.json could not be read"}));
  EXPECT_EQ(write(first + deep + "\n" + second, "{\"rounds\":2}")[0],
            "metrics.jsonl: 1 line could not be read");
  std::filesystem::remove_all(dir.page());
  std::filesystem::remove(dir.config());
  std::filesystem::remove(dir.config_json());
  EXPECT_EQ(write(first + second, "{\"rounds\":2}"),
            (Json{"the configuration is missing or damaged"}));
}

TEST(RunData, ReadsNoPipes) {
  const TemporaryFolder folder = TestFolder();
  const RunDir dir(folder.path());
  for (const auto& path : {dir.metrics(), dir.audit(), dir.config(), dir.config_json()}) {
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  }
  EXPECT_EQ(RunData(dir)["metrics"]["rounds"], 0);
}

TEST(RunData, AnEvaluationThatWasRepeatedStandsOnce) {
  const TemporaryFolder folder = TestFolder();
  const RunDir dir(folder.path());
  const auto line = [](double accuracy, int seed, double time) {
    return Json{{"kind", "eval"},       {"metric", "linear"}, {"protocol", "fast"},
                {"accuracy", accuracy}, {"seeds", {seed}},    {"time", time}}
               .dump() +
           "\n";
  };
  WriteFileAtomically(dir.metrics(), std::string_view(line(0.5, 0, 1) + line(0.5, 0, 2) +
                                                      line(0.5, 1, 3) + line(0.6, 0, 4)));
  EXPECT_EQ(RunData(dir)["evals"].size(), 3);
}

TEST(RunData, ReadsFullAuditFilesTooAndSaysHowManyLinesWereCutShort) {
  const TemporaryFolder folder = TestFolder();
  const RunDir dir(folder.path());
  const auto full = [&](int age) { return fmt::format("{}.{}", dir.audit().string(), age); };
  const std::string miss = "{\"event\":\"miss\",\"client\":\"a\"}\n";
  WriteFileAtomically(full(2), std::string_view(miss + "{\"event\":\"mi\n"));
  WriteFileAtomically(full(1), std::string_view(miss + miss));
  WriteFileAtomically(dir.audit(), std::string_view(miss + "7\n" + miss + "{\"eve"));
  const Json data = RunData(dir, {.damage = true});
  EXPECT_EQ(data["audit"]["counts"], (Json{{"miss", 5}}));
  EXPECT_EQ(data["audit"]["events"].size(), 5);
  EXPECT_EQ(data["damage"][0], "audit.jsonl: 3 lines could not be read");
}

TEST(RunData, CountsTheAuditAsFarAsAskedAndWhatAFloodLeftOut) {
  const TemporaryFolder folder = TestFolder();
  const RunDir dir(folder.path());
  const std::string first = "{\"event\":\"refuse\",\"client\":\"a\",\"more\":40}\n";
  WriteFileAtomically(dir.audit(), std::string_view(first + "{\"event\":\"miss\"}\n"));
  EXPECT_EQ(RunData(dir)["audit"]["counts"], (Json{{"refuse", 40}, {"miss", 1}}));
  const Json part = RunData(dir, {.audit_end = first.size()})["audit"];
  EXPECT_EQ(part["counts"], (Json{{"refuse", 40}}));
  EXPECT_EQ(part["by_client"]["a"]["refuse"], 40);
  EXPECT_EQ(part["events"].size(), 1);
}

TEST(RunData, NamesNoFile) {
  const TemporaryFolder folder = TestFolder();
  const RunDir dir(folder.path() / "run");
  // As an older version left it: without config.json.
  dir.Create(
      {"[data]\npath = \"/home/canary/x # y\"  # its files (/home/canary/a.toml:3)\n"
       "name = \"a # b\"  # of it (/home/canary/a.toml:4)\nsize = 0\n",
       ""});
  std::filesystem::remove(dir.config_json());
  const Json config = RunData(dir)["config"];
  EXPECT_EQ(config, Json::parse(R"({"data":{"name":"a # b","path":null,"size":0}})"));
  WriteFileAtomically(dir.config_json(), R"({"data":{"name":"c"}})");
  EXPECT_EQ(RunData(dir)["config"], Json::parse(R"({"data":{"name":"c"}})"));
}

}  // namespace
}  // namespace kindred

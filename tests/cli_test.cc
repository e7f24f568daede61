// The commands as a user types them: exit codes, one line on stderr, nothing half-written.
#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "base/error.h"
#include "tests/folders.h"
#include "tests/http_server.h"
#include "tests/program.h"

namespace kindred {
namespace {

TEST(Program, HelpListsTheCommandsAndVersionIsOneLine) {
  const auto folder = TestFolder();
  const Ran help = Kindred(folder, "--help");
  EXPECT_EQ(help.code, 0);
  for (const char* command :
       {"train", "serve", "join", "doctor", "pki", "list", "config", "data"}) {
    EXPECT_NE(help.out.find(command), std::string::npos);
  }
  EXPECT_EQ(help.out.find("audit"), std::string::npos);  // what does not exist is not listed
  EXPECT_EQ(Kindred(folder, "--version").out, "0.1.0\n");
}

TEST(Program, UsageErrorsSayWhatToDo) {
  const auto folder = TestFolder();
  ExpectFailure(Kindred(folder, "dat"), 2, "did you mean kindred data?");
  ExpectFailure(Kindred(folder, "data inspct"), 2, "did you mean kindred data inspect?");
  ExpectFailure(Kindred(folder, ""), 2, "kindred --help");
  ExpectFailure(Kindred(folder, "data inspect --colour"), 2, "kindred data inspect --help");
  ExpectFailure(Kindred(folder, "data inspect --set data.nam=x"), 2, "did you mean data.name?");
  ExpectFailure(Kindred(folder, "data inspect imagenet"), 2, "one of cifar10, cifar100");
  ExpectFailure(Kindred(folder, "config show", "KINDRED_DATA_LIMT=3"), 2,
                "did you mean data.limit?");
  ExpectFailure(Kindred(folder, "config show --config none.toml"), 2, "none.toml");
  ExpectFailure(Kindred(folder, "list metods"), 2, "no such list");
  ExpectFailure(Kindred(folder, "data partition --set partition.clients=2001"), 2, "more clients");
  ExpectFailure(
      Kindred(folder, "data partition --set partition.scheme=noniid1 --set partition.clients=4"), 2,
      "cannot be dealt");
}

TEST(Program, ConfigShowPrintsAFileThatGivesTheSameConfig) {
  const auto folder = TestFolder();
  const Ran first = Kindred(folder, "config show --set data.limit=77 --set views.hue=0.25",
                            "KINDRED_PARTITION_SCHEME=noniid2");
  ASSERT_EQ(first.code, 0) << first.err;
  WriteFileAtomically(folder.path() / "c.toml", std::string_view(first.out));
  const auto json =
      nlohmann::json::parse(Kindred(folder, "config show --config c.toml --json").out);
  EXPECT_EQ(json["data"]["limit"], 77);
  EXPECT_EQ(json["views"]["hue"], 0.25);
  EXPECT_EQ(json["partition"]["scheme"], "noniid2");
}

TEST(Program, LaterConfigFilesCountOverEarlierOnes) {
  const auto folder = TestFolder();
  WriteFileAtomically(folder.path() / "a.toml",
                      std::string_view("[data]\nlimit = 70\n[train]\nrounds = 3\n"));
  WriteFileAtomically(folder.path() / "b.toml", std::string_view("[data]\nlimit = 80\n"));
  const auto shown = [&](const std::string& files) {
    return nlohmann::json::parse(Kindred(folder, "config show --json " + files).out);
  };
  EXPECT_EQ(shown("--config a.toml --config b.toml")["data"]["limit"], 80);
  EXPECT_EQ(shown("--config a.toml --config b.toml")["train"]["rounds"], 3);
  EXPECT_EQ(shown("--config b.toml --config a.toml")["data"]["limit"], 70);
  EXPECT_EQ(shown("--config a.toml --config b.toml --set data.limit=90")["data"]["limit"], 90);
}

TEST(Program, ListsMethodsWithWhereTheyComeFrom) {
  const auto folder = TestFolder();
  const Ran text = Kindred(folder, "list methods");
  const auto json = nlohmann::json::parse(Kindred(folder, "list methods --json").out)["methods"];
  std::set<std::string> names;
  for (const auto& method : json) {
    names.insert(method["name"]);
    for (const char* field : {"name", "reference", "summary"}) {
      EXPECT_NE(text.out.find(method[field].get<std::string>()), std::string::npos) << method;
    }
    EXPECT_NE(method["reference"].get<std::string>().find("20"), std::string::npos) << "a year";
  }
  for (const char* name : {"byol", "ccl", "deepcluster", "fedca", "fedema", "moco", "rotation",
                           "simclr", "simsiam", "supervised", "swav"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  EXPECT_EQ(std::count(text.out.begin(), text.out.end(), '\n'), names.size() + 1) << text.out;
}

TEST(Program, ListsRulesAndTakesNoOther) {
  const auto folder = TestFolder();
  const Ran text = Kindred(folder, "list rules");
  for (const char* rule : {"mean", "median", "trimmed", "krum", "Blanchard"}) {
    EXPECT_NE(text.out.find(rule), std::string::npos) << rule;
  }
  ExpectFailure(Kindred(folder, "config show --set server.rule=mode"), 2, "server.rule");
  ExpectFailure(Kindred(folder, "config show --set server.trim=0.5"), 2, "server.trim");
}

TEST(Program, EveryConfigOfTheProjectIsUnderstood) {
  const auto folder = TestFolder();
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           std::string(KINDRED_SOURCE_DIR) + "/configs")) {
    if (entry.path().extension() != ".toml") continue;
    const Ran ran = Kindred(folder, "config show --config '" + entry.path().string() + "'");
    EXPECT_EQ(ran.code, 0) << ran.err;
    ++count;
  }
  EXPECT_GE(count, 8);
}

TEST(Program, HelpIsAWordToo) {
  const auto folder = TestFolder();
  for (const std::string command : {"", "train", "data get"}) {
    const Ran ran = Kindred(folder, "help " + command);
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out, Kindred(folder, command + " --help").out) << command;
    EXPECT_EQ(ran.out.find("kindred help COMMAND") != std::string::npos, command.empty());
  }
  ExpectFailure(Kindred(folder, "help trian"), 2, "did you mean kindred train?");
}

TEST(Program, BenchSaysHowFastAndWhatToSet) {
  const auto folder = TestFolder();
  const std::string bench =
      "bench --turns 1 --steps 1 --set train.workers=2 --config '" KINDRED_SOURCE_DIR
      "/configs/tiny.toml'";
  const Ran ran = Kindred(folder, bench + " --json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto json = nlohmann::json::parse(ran.out);
  ASSERT_EQ(json["speeds"].size(), 5u);  // fast 1, 2, 1 x 2 threads; torch 1, 2
  nlohmann::json best;                   // of the ways that rounds of tiny's five clients take
  for (const auto& way : json["speeds"]) {
    if (way["threads"] == 1 &&
        (best.is_null() || way["images_per_second"] > best["images_per_second"])) {
      best = way;
    }
  }
  EXPECT_GT(best["images_per_second"], 0);
  EXPECT_EQ(json["clients"], 5);
  EXPECT_EQ(json["set"]["train.engine"], best["engine"]);
  EXPECT_EQ(json["set"]["train.workers"], best["workers"]);
  double sum = 0;
  for (const auto& part : json["step"]["parts"]) sum += part["seconds"].get<double>();
  EXPECT_NEAR(sum, json["step"]["seconds"].get<double>(), 1e-9);
  const Ran text = Kindred(folder, bench);
  EXPECT_NE(text.out.find("set train.engine = "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("for rounds of 5 clients"), std::string::npos) << text.out;
  EXPECT_EQ(Kindred(folder, "bench --turns 0").code, 2);
  EXPECT_EQ(Kindred(folder, "bench --set train.batch=3 --set model.bn_splits=2").code, 2);
}

TEST(Program, InspectPrintsOneJsonObject) {
  const auto folder = TestFolder();
  const Ran ran = Kindred(folder, "data inspect shapes --set data.limit=40 --json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto json = nlohmann::json::parse(ran.out);
  EXPECT_EQ(json["train"], 40);
  EXPECT_EQ(json["classes"], 10);
  EXPECT_EQ(json["data_hash"].get<std::string>().size(), 64u);
}

TEST(Program, PicturesAreWrittenOnceAndReplacedOnlyByForce) {
  const auto folder = TestFolder();
  EXPECT_EQ(Kindred(folder, "data preview --out p.png --count 3").code, 0);
  EXPECT_EQ(Kindred(folder, "data partition --out p.svg --set partition.scheme=dirichlet").code, 0);
  const Bytes png = ReadFile(folder.path() / "p.png", 1 << 20);
  ExpectFailure(Kindred(folder, "data preview --out p.png"), 5, "--force");
  ExpectFailure(Kindred(folder, "data partition --out p.svg"), 5, "--force");
  EXPECT_EQ(ReadFile(folder.path() / "p.png", 1 << 20), png);
  EXPECT_EQ(Kindred(folder, "data preview --out p.png --force --count 4").code, 0);
  EXPECT_NE(ReadFile(folder.path() / "p.png", 1 << 20), png);
  EXPECT_EQ(Kindred(folder, "data preview --out none/p.png").code, 3);
  const Ran encodings = Kindred(folder, "data preview --encodings --out e.png --count 3");
  EXPECT_EQ(encodings.code, 0) << encodings.err;
  EXPECT_NE(encodings.out.find("does not encrypt"), std::string::npos);
  ExpectFailure(Kindred(folder, "data preview --encodings --out f.png --set data.limit=3"), 2,
                "privacy.mix = 4");
}

TEST(Program, BadImagesAreOneLineAndExitCodeThree) {
  const auto folder = TestFolder();
  WriteFlatPng(folder.path() / "in" / "a" / "1.png", 40, 30, 1, 2, 3);
  const std::string inspect = "data inspect folder --path in";
  EXPECT_EQ(Kindred(folder, inspect).code, 0);
  WriteFileAtomically(folder.path() / "in" / "a" / "2.jpg", std::string_view("\xff\xd8\xff"));
  ExpectFailure(Kindred(folder, inspect), 3, "2.jpg");
  const Ran skipped = Kindred(folder, inspect + " --set data.skip=1");
  EXPECT_EQ(skipped.code, 0);
  EXPECT_NE(skipped.err.find("left out: in/a/2.jpg"), std::string::npos);
  ExpectFailure(Kindred(folder, "data inspect folder --path nowhere"), 3, "no such folder");
  ExpectFailure(Kindred(folder, "data inspect cifar10"), 3, "kindred data get cifar10");
  ExpectFailure(Kindred(folder, "data preview folder --path in --out p.png"), 3, "2.jpg");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "p.png"));
}

TEST(Program, ADownloadThatBreaksOrLiesLeavesNoDataset) {
  const auto folder = TestFolder();
  {
    HttpServer server(Bytes(100'000, 7), {.cut_first = 1000, .cut_after = 10});
    const Ran ran = Kindred(folder, "data get cifar100 --out c --from " + server.address());
    EXPECT_EQ(ran.code, 3) << ran.err;
    EXPECT_NE(ran.err.find("broke off"), std::string::npos) << ran.err;
  }
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "c"));
  HttpServer server(Bytes(100'000, 7), {});
  const Ran ran = Kindred(folder, "data get cifar100 --out c --from " + server.address());
  EXPECT_EQ(ran.code, 3) << ran.err;
  EXPECT_NE(ran.err.find("MD5"), std::string::npos) << ran.err;
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "c"));
}

}  // namespace
}  // namespace kindred

#include "base/config.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

struct Options {
  bool verify = true;
  int rounds = 20;
  uint64_t seed = 0;
  double alpha = 0.5;
  std::string name = "shapes";
  std::vector<double> mean;
};

Config BindOptions(Options& options) {
  Config config;
  config.Bind("data.name", &options.name, "dataset", {.choices = {"shapes", "mnist"}});
  config.Bind("data.verify", &options.verify, "check");
  config.Bind("data.mean", &options.mean, "means", {.least = 0, .most = 1});
  config.Bind("partition.alpha", &options.alpha, "unevenness", {.least = 0.001});
  config.Bind("train.rounds", &options.rounds, "rounds", {.least = 1, .most = 100});
  config.Bind("train.seed", &options.seed, "seed");
  return config;
}

std::filesystem::path WriteConfig(const TemporaryFolder& folder, std::string_view text) {
  WriteFileAtomically(folder.path() / "c.toml", text);
  return folder.path() / "c.toml";
}

TEST(Config, StrongerSourcesWin) {
  const auto folder = TestFolder();
  Options options;
  Config config = BindOptions(options);
  config.ApplyFile(WriteConfig(folder,
                               "[train]\nrounds = 2\nseed = 2\n[partition]\nalpha = 2\n"
                               "[data]\nmean = [0.25, 1]\nverify = false\n"));
  const char* environment[] = {"HOME=/", "KINDRED_TRAIN_SEED=3", "KINDRED_PARTITION_ALPHA=3",
                               nullptr};
  config.ApplyEnvironment(environment);
  config.ApplyAssignment("partition.alpha=4");
  EXPECT_EQ(options.rounds, 2);   // file over default
  EXPECT_EQ(options.seed, 3u);    // environment over file
  EXPECT_EQ(options.alpha, 4.0);  // --set over environment
  EXPECT_EQ(options.name, "shapes");
  EXPECT_FALSE(options.verify);
  EXPECT_EQ(options.mean, (std::vector<double>{0.25, 1}));
  EXPECT_EQ(config.OriginOf("partition.alpha"), "--set");
  EXPECT_EQ(config.OriginOf("train.seed"), "KINDRED_TRAIN_SEED");
  EXPECT_TRUE(config.OriginOf("train.rounds").ends_with("c.toml:2"));
}

TEST(Config, AnUnknownKeyNamesTheNearest) {
  const auto folder = TestFolder();
  Options options;
  Config config = BindOptions(options);
  const auto expect = [&](const std::string& part, auto action) {
    ExpectError(ExitCode::kUsage, part, action);
  };
  expect("did you mean train.rounds?", [&] { config.ApplyAssignment("train.rouns=3"); });
  expect("did you mean train.rounds?", [&] { config.ApplyAssignment("rounds=3"); });
  expect("did you mean partition.alpha?", [&] { config.ApplyAssignment("data.alpha=3"); });
  expect("kindred config show", [&] { config.ApplyAssignment("qqqqqqqqqqqqqqqqqqqq.zzzzzz=3"); });
  const char* environment[] = {"KINDRED_TRAIN_SEAD=1", nullptr};
  expect("did you mean train.seed?", [&] { config.ApplyEnvironment(environment); });
  expect("c.toml:2); did you mean data.name?",
         [&] { config.ApplyFile(WriteConfig(folder, "[data]\nnmae = 'x'\n")); });
  for (const char* text : {"seed = 1\n", "\"train.seed\" = 1\n"}) {
    expect("is not in a section", [&] { config.ApplyFile(WriteConfig(folder, text)); });
  }
}

TEST(Config, AWrongValueSaysWhatIsWanted) {
  Options options;
  Config config = BindOptions(options);
  const auto expect = [&](const char* assignment, const std::string& part) {
    ExpectError(ExitCode::kUsage, part, [&] { config.ApplyAssignment(assignment); });
  };
  expect("train.rounds=0", "between 1 and 100");
  expect("train.rounds=2.5", "a whole number");
  expect("train.rounds=", "a whole number");
  expect("train.seed=-1", "from 0 to 2^63 - 1");
  expect("train.seed=9223372036854775808", "from 0 to 2^63 - 1");
  expect("partition.alpha=nan", "a number");
  expect("partition.alpha=0", "at least 0.001");
  expect("data.verify=yes", "true or false");
  expect("data.name=cifar", "one of shapes, mnist");
  expect("data.mean=0.1,x", "numbers separated by commas");
  expect("data.mean=0.1,2", "between 0 and 1");
  expect("data.name", "section.key=value");
  EXPECT_EQ(options.rounds, 20);  // nothing was stored
}

TEST(Config, ABrokenFileNamesTheLine) {
  const auto folder = TestFolder();
  Options options;
  Config config = BindOptions(options);
  ExpectError(ExitCode::kUsage,
              "c.toml:2:", [&] { config.ApplyFile(WriteConfig(folder, "[data]\nname = \n")); });
  ExpectError(ExitCode::kUsage, "cannot open", [&] { config.ApplyFile(folder.path() / "none"); });
  ExpectError(ExitCode::kUsage, "a plain value",
              [&] { config.ApplyFile(WriteConfig(folder, "[data]\nname = {a = 1}\n")); });
}

TEST(Config, ItsTomlReadsBackTheSame) {
  const auto folder = TestFolder();
  Options options{.verify = false,
                  .rounds = 7,
                  .seed = (1ull << 63) - 1,
                  .alpha = 1e-3,
                  .name = "mnist",
                  .mean = {0.1, 1.0 / 3.0}};
  const std::string text = BindOptions(options).ToToml();
  Options again;
  Config config = BindOptions(again);
  config.ApplyFile(WriteConfig(folder, text));
  EXPECT_EQ(again.verify, options.verify);
  EXPECT_EQ(again.rounds, options.rounds);
  EXPECT_EQ(again.seed, options.seed);
  EXPECT_EQ(again.alpha, options.alpha);
  EXPECT_EQ(again.name, options.name);
  EXPECT_EQ(again.mean, options.mean);
}

TEST(Config, ARetiredKeyIsReadWhileItDidNothing) {
  const auto folder = TestFolder();
  Options options;
  Config config = BindOptions(options);
  config.BindRetired("train.gone", "0");
  EXPECT_NO_THROW(config.ApplyFile(WriteConfig(folder, "[train]\ngone = 0.0\nrounds = 9\n")));
  EXPECT_EQ(options.rounds, 9);
  ExpectError(ExitCode::kUsage, "train.gone",
              [&] { config.ApplyFile(WriteConfig(folder, "[train]\ngone = 0.5\n")); });
  ExpectError(ExitCode::kUsage, "unknown key train.gone",
              [&] { config.ApplyAssignment("train.gone=0"); });
  EXPECT_EQ(config.ToToml().find("gone"), std::string::npos);
}

TEST(Config, WritesAnyTextAsToml) {
  const auto folder = TestFolder();
  const std::string odd = "a \"quoted\" \\ path\nwith\ttabs, \x7f and ü";
  std::string path = odd;
  Config config;
  config.Bind("data.path", &path, "files");
  const auto file = WriteConfig(folder, config.ToToml());
  path.clear();
  config.ApplyFile(file);
  EXPECT_EQ(path, odd);
  EXPECT_EQ(nlohmann::json::parse(config.ToJson())["data"]["path"], odd);
}

TEST(Config, SaysWhatACoordinatorMaySetAndWhichLimitOfTheClientBoundsIt) {
  int epochs = 2, bank = 8, max_epochs = 5, max_number = 10, own = 0;
  double tau = 0.1;
  Config config;
  config.BindForClients("train.epochs", &epochs, "", {.client_limit = "client.max_epochs"});
  config.BindForClients("ccl.bank", &bank, "");
  config.BindForClients("ccl.tau", &tau, "");
  config.Bind("client.max_epochs", &max_epochs, "");
  config.Bind("client.max_number", &max_number, "");
  config.Bind("server.own", &own, "");
  EXPECT_EQ(config.ForClients(),
            (std::vector<std::string>{"train.epochs = 2", "ccl.bank = 8", "ccl.tau = 0.1"}));
  const std::set<std::string> all = {"train.epochs", "ccl.bank", "ccl.tau"};
  EXPECT_FALSE(config.BeyondLimits(all));
  epochs = 6;
  ASSERT_TRUE(config.BeyondLimits(all));
  EXPECT_EQ(config.BeyondLimits(all)->limit, "client.max_epochs");
  EXPECT_EQ(config.BeyondLimits(all)->value, "6");
  EXPECT_FALSE(config.BeyondLimits({"ccl.bank"})) << "not asked about";
  epochs = 5;
  bank = 11;
  EXPECT_EQ(config.BeyondLimits(all)->limit, "client.max_number") << "a whole number's";
}

TEST(Config, LeavesPathsOutWhereRunsAreHandedOn) {
  std::string path = "/home/canary";
  Config config;
  config.Bind("data.path", &path, "", {.is_path = true});
  EXPECT_EQ(config.ToJsonWithoutPaths(), R"({"data":{"path":null}})");
  EXPECT_NE(config.ToJson().find("canary"), std::string::npos);
}

TEST(TomlToJson, ReadsSectionsOrNothing) {
  EXPECT_EQ(nlohmann::json::parse(*TomlToJson("[a]\nb = 3  # of it\nc = \"x # y\"\n")),
            nlohmann::json::parse(R"({"a":{"b":3,"c":"x # y"}})"));
  EXPECT_FALSE(TomlToJson("[a\nb"));
}

TEST(Nearest, FindsTheSmallestEditDistance) {
  EXPECT_EQ(Nearest("lamda", {"alpha", "lambda", "gamma"}), "lambda");
  EXPECT_EQ(Nearest("zzzzzz", {"alpha", "lambda"}), "");
}

}  // namespace
}  // namespace kindred

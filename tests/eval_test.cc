// kindred eval, embed and export as a user types them, on a tiny run.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "tests/folders.h"
#include "tests/program.h"

namespace kindred {
namespace {

std::string ReadText(const std::filesystem::path& path) {
  const Bytes bytes = ReadFile(path, 1 << 24);
  return {bytes.begin(), bytes.end()};
}

// A folder with a finished run of two rounds.
const TemporaryFolder& WithRun() {
  static const auto folder = [] {
    auto made = std::make_unique<TemporaryFolder>(std::filesystem::temp_directory_path());
    const Ran ran = Kindred(*made, std::string("train --out run --config ") + KINDRED_SOURCE_DIR +
                                       "/configs/tiny.toml");
    EXPECT_EQ(ran.code, 0) << ran.err;
    return made;
  }();
  return *folder;
}

nlohmann::json EvalJson(const std::string& arguments) {
  const Ran ran = Kindred(WithRun(), "eval " + arguments + " --json");
  EXPECT_EQ(ran.code, 0) << ran.err;
  return nlohmann::json::parse(ran.out);
}

TEST(Eval, EveryMetricSaysWhatItMeasured) {
  for (const std::string metric :
       {"knn --set eval.k=5", "linear", "linear --protocol moco --set eval.epochs=2",
        "semi --labels 0.2",
        "finetune --labels 0.2 --set eval.rounds=2 --set eval.local_epochs=1"}) {
    const auto result = EvalJson(metric + " --run run");
    EXPECT_EQ(result["metric"], metric.substr(0, metric.find(' ')));
    const double accuracy = result["accuracy"];
    // Chance is .1. Of 500 images a few neighbours tell more than the monitor's 200 do.
    const bool told = metric.starts_with("knn") || metric == "linear";
    EXPECT_GT(accuracy, told ? 0.11 : 0.0) << metric;
    EXPECT_LE(accuracy, 1.0);
    for (const char* key :
         {"protocol", "seed", "data_hash", "config_hash", "partition_hash", "config",
          "encoder_digest", "version", "seconds", "confusion", "per_class"}) {
      EXPECT_TRUE(result.contains(key)) << metric << " " << key;
    }
  }
  const std::string metrics = ReadText(WithRun().path() / "run" / "metrics.jsonl");
  EXPECT_NE(metrics.find("\"kind\":\"eval\""), std::string::npos);
  EXPECT_NE(metrics.find("\"metric\":\"semi\""), std::string::npos);
}

TEST(Eval, TheMonitorsKnnIsEvalsKnn) {
  const auto summary = nlohmann::json::parse(ReadText(WithRun().path() / "run" / "summary.json"));
  EXPECT_EQ(EvalJson("knn --run run")["accuracy"], summary["knn_last"]);
  EXPECT_EQ(EvalJson("knn --run run --round 0")["accuracy"], summary["knn_first"]);
}

TEST(Eval, ARunItsCheckpointAndItsExportAreOneEncoder) {
  const Ran exported = Kindred(WithRun(), "export --run run --force");
  ASSERT_EQ(exported.code, 0) << exported.err;
  const auto run = EvalJson("linear --run run");
  const auto checkpoint = EvalJson("linear --run run/checkpoints/round-2.safetensors");
  const auto folder = EvalJson("linear --run run/exported --set data.limit=500");
  const auto file = EvalJson("linear --run run/exported/encoder.safetensors --set data.limit=500");
  for (const auto& other : {checkpoint, folder, file}) {
    EXPECT_EQ(other["encoder_digest"], run["encoder_digest"]);
    EXPECT_EQ(other["accuracy"], run["accuracy"]);
    EXPECT_EQ(other["data_hash"], run["data_hash"]);
  }
  EXPECT_NE(EvalJson("linear --run run --round 1")["encoder_digest"], run["encoder_digest"]);
}

TEST(Eval, SeveralRunsGiveMeanAndDeviation) {
  const auto both = EvalJson("linear --run run --run run/checkpoints/round-1.safetensors");
  const double a = both["results"][0]["accuracy"], b = both["results"][1]["accuracy"];
  EXPECT_DOUBLE_EQ(both["accuracy"], (a + b) / 2);
  EXPECT_NEAR(both["deviation"], std::abs(a - b) / std::sqrt(2.0), 1e-12);
  const auto seeds = EvalJson("semi --run run --seeds 2 --set eval.epochs=1");
  EXPECT_EQ(seeds["accuracies"].size(), 2u);
}

TEST(Eval, WorkersChangeNothing) {
  for (const std::string metric : {"knn", "linear", "linear --protocol moco --set eval.epochs=2",
                                   "semi --seeds 2 --set eval.epochs=1",
                                   "finetune --set eval.rounds=1 --set eval.local_epochs=1"}) {
    std::vector<nlohmann::json> results;
    for (const int workers : {1, 3}) {  // each with a cache of its own: both compute features
      const Ran ran =
          Kindred(WithRun(), fmt::format("eval {} --run run --workers {} --json", metric, workers),
                  fmt::format("XDG_CACHE_HOME={}/cache{}", WithRun().path().string(), workers));
      ASSERT_EQ(ran.code, 0) << ran.err;
      results.push_back(nlohmann::json::parse(ran.out));
      std::filesystem::remove_all(WithRun().path() / fmt::format("cache{}", workers));
    }
    EXPECT_EQ(results[0]["confusion"], results[1]["confusion"]) << metric;
  }
}

TEST(Eval, SaysWhatDoesNotFit) {
  const auto expect = [](const std::string& arguments, int code, const std::string& part) {
    ExpectFailure(Kindred(WithRun(), arguments), code, part);
  };
  expect("eval linear --run run --set data.size=24", 3, "set data.size = 32");
  expect("eval linear --run run --set data.channels=1", 3, "set data.channels = 3");
  expect("eval semi --run run --labels 0.001", 2, "raise eval.labels");
  expect("eval finetune --run run --labels 0.001", 2, "raise eval.labels");
  expect("eval knn --run nowhere", 3, "nothing is there");
  expect("eval knn --run run --round 7", 3, "no checkpoint of round 7");
  expect("eval knn --run run/tensorboard", 3, "neither a run");
  expect("eval knn --run run/summary.json", 3, "safetensors");
  expect("eval knn --run run/checkpoints/round-1.safetensors --round 2", 2, "two rounds");
  expect("eval linear --run run --protocol quick", 2, "one of fast, moco");
  expect("eval lineal --run run", 2, "did you mean kindred eval linear?");
  expect("eval knn", 2, "--run");
  // Another architecture than the run's configuration says.
  std::filesystem::copy(WithRun().path() / "run", WithRun().path() / "other",
                        std::filesystem::copy_options::recursive);
  std::string config = ReadText(WithRun().path() / "other" / "config.toml");
  config.replace(config.find("arch = \"resnet10\""), 17, "arch = \"resnet18\"");
  WriteFileAtomically(WithRun().path() / "other" / "config.toml", std::string_view(config));
  const Ran other = Kindred(WithRun(), "eval knn --run other");
  EXPECT_EQ(other.code, 3) << other.err;
  EXPECT_NE(other.err.find("the configuration says resnet18 of width 8"), std::string::npos)
      << other.err;
}

TEST(Embed, WritesATableWithNamesAndAPicture) {
  for (int i = 0; i < 9; ++i) {
    WriteFlatPng(WithRun().path() / "photos" / fmt::format("a,{}.png", i), 40, 30,
                 static_cast<uint8_t>(25 * i), 90, 120);
  }
  const Ran ran = Kindred(
      WithRun(), "embed --run run --images photos --out h.csv --plot h.svg --clusters 3 --json");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const auto result = nlohmann::json::parse(ran.out);
  EXPECT_EQ(result["images"], 9);
  EXPECT_EQ(result["features"], 64);
  const std::string table = ReadText(WithRun().path() / "h.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 10);
  EXPECT_EQ(table.find("row,split,file,label,cluster,h0,h1,"), 0u);
  EXPECT_NE(table.find("\n8,train,\"a,8.png\",,"), std::string::npos) << "quoted";
  EXPECT_NE(ReadText(WithRun().path() / "h.svg").find("<svg"), std::string::npos);
  ExpectFailure(Kindred(WithRun(), "embed --run run --images photos --out h.csv"), 5, "h.csv");
  ExpectFailure(Kindred(WithRun(), "embed --run run --out h.txt"), 2, ".npy or .csv");
  ExpectFailure(
      Kindred(WithRun(), "embed --run run --images photos --out x.csv --color class --plot x.svg"),
      2, "no labels");
  ExpectFailure(Kindred(WithRun(), "embed --run run --images photos --out x.csv --clusters 10"), 2,
                "there are 9 images");
}

TEST(Embed, ColorsByClient) {
  const Ran ran =
      Kindred(WithRun(), "embed --run run --split train --out c.npy --plot c.png --color client");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(FileExists(WithRun().path() / "c.csv"));
  EXPECT_TRUE(FileExists(WithRun().path() / "c.png"));
}

TEST(Export, LeavesACardAndRefusesToReplace) {
  const Ran ran = Kindred(WithRun(), "export --run run --out card --license CC-BY-4.0");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::string card = ReadText(WithRun().path() / "card" / "README.md");
  for (const char* part :
       {"resnet10 of width 8", "| method | ccl |", "CC-BY-4.0", "not encryption"}) {
    EXPECT_NE(card.find(part), std::string::npos) << part;
  }
  ExpectFailure(Kindred(WithRun(), "export --run run --out card"), 5, "card");
  ExpectFailure(Kindred(WithRun(), "export --run run --out x --input double"), 2, "--input");
}

}  // namespace
}  // namespace kindred

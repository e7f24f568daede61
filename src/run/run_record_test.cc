#include "run/run_record.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

RoundReport RecordReport(int round) {
  return {.round = round,
          .loss = 2,
          .images = 100,
          .bytes_down = 10,
          .bytes_up = 20,
          .seconds = 4,
          .metrics = {{"feature_cosine", 0.1 * round}}};
}

TEST(RunRecord, GoesOnWithSumsModelPoolAndMetrics) {
  const auto folder = TestFolder();
  const RunDir dir(folder.path() / "run");
  dir.Create({"", "{}"});
  LocalStore store(1 << 20, folder.path() / "scratch");
  const RunIdentity identity = {"c", "d", "p"};
  std::string pool;
  {
    RunRecord record(dir, identity, 3, {});
    record.Start({{"w", torch::ones({2})}}, store);
    EXPECT_EQ(record.NextRound(), 0);
    record.AddKnn(0, 0.25, 1);
    record.AddRound(RecordReport(0));
    record.Server().global.at("w").fill_(5);
    record.Server().pool.Replace(1, torch::ones({1, 1}), 0);
    pool = DigestOf(record.Server().pool.ToTensors());
    record.Save(1, store);
    record.AddRound(RecordReport(1));  // never saved
  }
  RunRecord record(dir, identity, 3, {});
  record.Start({{"w", torch::ones({2})}}, store);
  EXPECT_EQ(record.NextRound(), 1);
  EXPECT_FALSE(record.Finished());
  EXPECT_EQ(record.Global().at("w")[0].item<float>(), 5);
  EXPECT_EQ(DigestOf(record.Server().pool.ToTensors()), pool);
  EXPECT_EQ(record.Sums().first_knn, 0.25);
  EXPECT_EQ(record.Sums().images, 100);
  EXPECT_EQ(record.Sums().diagnostics.at("feature_cosine"), 0);
  EXPECT_EQ(ReadMetrics(dir.metrics()).size(), 2u) << "the line of the round that was lost is gone";
  record.Save(3, store);
  EXPECT_TRUE(record.Finished());
}

// 100 images in 4 s are 25 per second.
TEST(RoundLine, NamesKnnWhenItWasCheckedAndTheTimeLeftWhileRoundsAre) {
  EXPECT_EQ(RoundLine(RecordReport(0), 3, std::nullopt, 95),
            "round 1/3: loss 2.0000, 25 images/s, 95 s left");
  EXPECT_EQ(RoundLine(RecordReport(1), 3, 0.4512, 600),
            "round 2/3: loss 2.0000, kNN 45.12 %, 25 images/s, 10 min left");
  EXPECT_EQ(RoundLine(RecordReport(2), 3, 0.5, 0),
            "round 3/3: loss 2.0000, kNN 50.00 %, 25 images/s");
}

TEST(RunRecord, RefusesTheCheckpointOfAnotherRun) {
  const auto folder = TestFolder();
  const RunDir dir(folder.path() / "run");
  dir.Create({"", "{}"});
  LocalStore store(1 << 20, folder.path() / "scratch");
  RunRecord first(dir, {"c", "d", "p"}, 3, {});
  first.Start({{"w", torch::ones({2})}}, store);
  first.Save(1, store);
  for (const RunIdentity& other :
       {RunIdentity{"x", "d", "p"}, RunIdentity{"c", "x", "p"}, RunIdentity{"c", "d", "x"}}) {
    RunRecord record(dir, other, 3, {});
    ExpectError(ExitCode::kUsage, "another", [&] {
      record.Start({{"w", torch::ones({2})}}, store);
    });
  }
}

TEST(LearningWarning, WarnsOfFeaturesThatAreNearlyOnePoint) {
  const Metrics healthy = {{"feature_cosine", 0.5}, {"feature_rank", 4.1}, {"shared_cosine", 0.9}};
  const Metrics collapsed = {{"feature_cosine", 0.89}, {"feature_rank", 1.4}};
  const Metrics close = {{"feature_cosine", 0.77}, {"feature_rank", 2.8}};
  const Metrics flat = {{"feature_cosine", 0.4}, {"feature_rank", 2.0}};
  const Metrics shared = {{"feature_cosine", 0.5}, {"shared_cosine", 0.97}};
  EXPECT_FALSE(LearningWarning(5, healthy));
  EXPECT_FALSE(LearningWarning(5, {})) << "a method without features";
  EXPECT_TRUE(LearningWarning(5, close));
  EXPECT_TRUE(LearningWarning(5, flat)) << "a plane is not enough";
  EXPECT_FALSE(LearningWarning(1, collapsed)) << "still near random weights";
  EXPECT_NE(LearningWarning(2, collapsed).value_or("").find("cosine of 0.89"), std::string::npos);
  for (const auto& kind : MethodKinds()) {
    EXPECT_EQ(LearningWarning(2, collapsed)->find(std::string(kind.name) + "."), std::string::npos);
  }
  EXPECT_NE(LearningWarning(2, shared).value_or("").find("shared features"), std::string::npos);
}

TEST(LearningWarning, WarnsOfALossThatStaysAtAGuess) {
  EXPECT_FALSE(LearningWarning(9, {{"loss_over_chance", 0.95}}));
  EXPECT_FALSE(LearningWarning(2, {{"loss_over_chance", 1.0}})) << "it may still begin";
  EXPECT_NE(LearningWarning(9, {{"loss_over_chance", 0.998}}).value_or("").find("0.998 of"),
            std::string::npos);
}

}  // namespace
}  // namespace kindred

#include "run/evaluation.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "run/metric_commands.h"
#include "tests/judged.h"
#include "tests/throws.h"

namespace kindred {
namespace {

TEST(MetricKinds, EachHasItsCommand) {
  std::vector<std::string> metrics, commands;
  for (const auto& metric : MetricKinds()) metrics.emplace_back(metric.name);
  for (const auto& command : MetricCommands()) commands.emplace_back(command.name);
  EXPECT_EQ(metrics, commands);
}

// Test images never reach a choice: whatever else is in the test split and however it is labeled,
// an image's prediction and what was chosen on the way stay the same. Every metric of the table.
TEST(MetricKinds, TestImagesAndLabelsChangeNoPrediction) {
  Judged judged;
  for (const char* protocol : {"fast", "moco"}) {
    judged.experiment.eval.protocol = protocol;
    for (const auto& metric : MetricKinds()) {
      const Evaluation whole = judged.Run(metric, judged.dataset);
      Dataset other = judged.dataset;
      for (int& label : other.test.labels) label = (label + 1) % other.Classes();
      std::vector<int> half;
      for (int i = 0; i < other.test.images.count; i += 2) half.push_back(i);
      other.test = Select(other.test, half);
      const Evaluation part = judged.Run(metric, other);
      ASSERT_EQ(part.predictions.size(), half.size());
      for (size_t i = 0; i < half.size(); ++i) {
        EXPECT_EQ(part.predictions[i], whole.predictions[2 * i]) << metric.name << " " << i;
      }
      EXPECT_EQ(part.details, whole.details) << metric.name;
    }
  }
}

// And training labels do: otherwise the test above could not fail.
TEST(MetricKinds, TrainingLabelsChangePredictions) {
  Judged judged;
  Dataset other = judged.dataset;
  for (int& label : other.train.labels) label = (label + 1) % other.Classes();
  for (const auto& metric : MetricKinds()) {
    EXPECT_NE(judged.Run(metric, judged.dataset).predictions, judged.Run(metric, other).predictions)
        << metric.name;
  }
}

TEST(Evaluate, GivesMeanAndDeviationOverSeedsWithItsHashes) {
  Judged judged;
  judged.experiment.eval.seeds = 3;
  judged.experiment.eval.seed = 5;
  for (const auto& metric : MetricKinds()) {
    const Json result =
        Evaluate(metric, {judged.encoder, judged.dataset, judged.experiment, judged.cache.path()});
    EXPECT_EQ(result["metric"], metric.name);
    EXPECT_EQ(result["seeds"], (std::vector<uint64_t>{5, 6, 7}));
    ASSERT_EQ(result["accuracies"].size(), 3u);
    double mean = 0;
    for (size_t i = 0; i < 3; ++i) {
      const double accuracy = judged.Run(metric, judged.dataset, 5 + i).score.accuracy;
      EXPECT_EQ(result["accuracies"][i], accuracy) << metric.name;
      mean += accuracy / 3;
    }
    EXPECT_NEAR(result["accuracy"].get<double>(), mean, 1e-12);
    EXPECT_EQ(result["data_hash"], DataHash(judged.dataset));
    int images = 0;
    for (const auto& row : result["confusion"]) {
      for (const int count : row) images += count;
    }
    EXPECT_EQ(images, 3 * judged.dataset.test.images.count);
  }
}

TEST(CheckCanEvaluate, NeedsLabelsOnBothSplits) {
  Judged judged;
  CheckCanEvaluate(judged.encoder, judged.dataset);
  judged.dataset.test = {};
  ExpectError(ExitCode::kData, "needs labeled images to train and to test on",
              [&] { CheckCanEvaluate(judged.encoder, judged.dataset); });
}

}  // namespace
}  // namespace kindred

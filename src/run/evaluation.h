// What an encoder is worth: the table of metrics, and one of them run over seeds.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "eval/score.h"
#include "run/experiment.h"
#include "run/trained_encoder.h"

namespace kindred {

// What is evaluated, on what.
struct EvalTask {
  const Encoder& encoder;
  const Dataset& dataset;        // with labels on both splits; the test split already limited
  const Experiment& experiment;  // [eval], and for finetune [partition] and [train]
  std::filesystem::path cache;   // of features
};

// Of one seed.
struct Evaluation {
  Score score;
  std::vector<int> predictions;   // of the test images
  Json details = Json::object();  // what was chosen, what it cost
};

// An entry of the table. To add a metric, write its function, one such line in evaluation.cc and
// its command in metric_commands.cc.
struct MetricKind {
  const char* name;
  // Training images are all a metric may fit or choose by; test images are looked at once, last.
  Evaluation (*run)(const EvalTask& task, uint64_t seed,
                    const std::function<void(int images)>& on_images);
  uint64_t (*work)(const EvalTask& task);  // images it goes through, for a bar
  // About how long it takes, in passes over the training images by steps of training.
  double (*passes)(const Experiment& experiment);
  std::string (*protocol)(const Experiment& experiment);  // in a word or two, with its numbers
  bool one_thread = false;                                // seeds run side by side
};

std::span<const MetricKind> MetricKinds();

// Throws a data error unless the dataset can be evaluated on: labels on both splits, the encoder's
// size and channels.
void CheckCanEvaluate(const Encoder& encoder, const Dataset& dataset);

// The metric over the task's seeds, with a progress bar: "metric", "protocol", "accuracy" (the
// mean), "deviation", "seed", "seeds", "accuracies", "per_class", "confusion" (sums), ...
Json Evaluate(const MetricKind& metric, const EvalTask& task);

// The metric of a trained encoder on the experiment's data, with where the encoder comes from and
// the whole configuration; also a line of the run's metrics.jsonl, once the run is finished.
Json EvaluateTrained(const MetricKind& metric, const Resolved& resolved,
                     const TrainedEncoder& trained);

}  // namespace kindred

#include "run/evaluation.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>
#include <thread>

#include "base/embedded.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "eval/feature_cache.h"
#include "eval/knn.h"
#include "eval/labeled_subset.h"
#include "eval/linear_moco.h"
#include "eval/linear_probe.h"
#include "eval/semi_supervised.h"
#include "model/one_thread.h"
#include "record/metrics.h"
#include "run/finetune.h"
#include "run/monitor.h"

namespace kindred {
namespace {

using OnImages = std::function<void(int images)>;

int Workers(const EvalTask& task) { return WorkerCount(task.experiment.train.workers); }

at::Tensor FeaturesFor(const EvalTask& task, const Images& images, const OnImages& on_images) {
  return CachedFeatures(task.cache, task.encoder, images,
                        {.workers = Workers(task), .on_images = on_images});
}

// The one place where test labels are looked at.
Evaluation Judge(const EvalTask& task, std::vector<int> predictions,
                 Json details = Json::object()) {
  Score score = ScoreOf(predictions, task.dataset.test.labels, task.dataset.Classes());
  return {std::move(score), std::move(predictions), std::move(details)};
}

uint64_t BothSplits(const EvalTask& task) {
  return static_cast<uint64_t>(task.dataset.train.images.count) +
         static_cast<uint64_t>(task.dataset.test.images.count);
}

Evaluation RunKnn(const EvalTask& task, uint64_t, const OnImages& on_images) {
  const Dataset& data = task.dataset;
  const auto train = UnitRows(FeaturesFor(task, data.train.images, on_images));
  const auto test = UnitRows(FeaturesFor(task, data.test.images, on_images));
  const auto& eval = task.experiment.eval;
  return Judge(task, KnnPredict(train, data.train.labels, test, data.Classes(),
                                {.k = eval.k, .t = eval.t, .workers = Workers(task)}));
}

bool IsMoco(const Experiment& experiment) { return experiment.eval.protocol == "moco"; }

int MocoEpochs(const Experiment& experiment) {
  return experiment.eval.epochs > 0 ? experiment.eval.epochs : LinearMocoOptions{}.epochs;
}

Evaluation RunLinear(const EvalTask& task, uint64_t seed, const OnImages& on_images) {
  const Dataset& data = task.dataset;
  LinearProbe probe;
  Json details;
  if (IsMoco(task.experiment)) {
    probe = TrainLinearMoco(task.encoder, data.train.images, data.train.labels, data.Classes(),
                            {.epochs = MocoEpochs(task.experiment),
                             .crop = task.experiment.eval.crop,
                             .seed = seed,
                             .workers = Workers(task),
                             .on_images = on_images});
    details = {{"lr", probe.lr}};
  } else {
    probe = FitLinearProbe(FeaturesFor(task, data.train.images, on_images), data.train.labels,
                           data.Classes(), seed, Workers(task));
    details = {{"lr", probe.lr}, {"held_out_accuracy", probe.held_out}};
  }
  const auto test = FeaturesFor(task, data.test.images, on_images);
  return Judge(task, Argmax(Logits(probe, test)), details);
}

uint64_t LinearWork(const EvalTask& task) {
  if (!IsMoco(task.experiment)) return BothSplits(task);
  return static_cast<uint64_t>(task.dataset.train.images.count) *
             static_cast<uint64_t>(MocoEpochs(task.experiment)) +
         static_cast<uint64_t>(task.dataset.test.images.count);
}

SemiOptions SemiOptionsOf(const Experiment& experiment) {
  SemiOptions options = SemiOptionsFor(experiment.eval.labels);
  if (experiment.eval.epochs > 0) options.epochs = experiment.eval.epochs;
  options.crop = experiment.eval.crop;
  return options;
}

Evaluation RunSemi(const EvalTask& task, uint64_t seed, const OnImages& on_images) {
  const Dataset& data = task.dataset;
  Rng rng({.seed = seed, .purpose = Purpose::kLabeled});
  const auto chosen =
      LabeledSubset(data.train.labels, data.Classes(), task.experiment.eval.labels, rng);
  SemiOptions options = SemiOptionsOf(task.experiment);
  options.seed = seed;
  options.on_images = on_images;
  const auto classifier =
      FinetuneOnLabels(task.encoder, Select(data.train.images, chosen),
                       LabelsOf(data.train.labels, chosen), data.Classes(), options);
  return Judge(task, Classify(classifier, data.test.images, 1),
               {{"labels", task.experiment.eval.labels}, {"labeled_images", chosen.size()}});
}

uint64_t SemiWork(const EvalTask& task) {
  const auto labeled =
      static_cast<double>(task.dataset.train.images.count) * task.experiment.eval.labels;
  return static_cast<uint64_t>(labeled) *
         static_cast<uint64_t>(SemiOptionsOf(task.experiment).epochs);
}

Evaluation RunFinetune(const EvalTask& task, uint64_t seed, const OnImages& on_images) {
  const auto finetuned =
      FinetuneTogether(task.encoder, task.dataset, task.experiment, seed, on_images);
  size_t labeled = 0;
  for (const auto& own : finetuned.labeled.clients) labeled += own.size();
  return Judge(task, Classify(finetuned.classifier, task.dataset.test.images, Workers(task)),
               {{"labels", task.experiment.eval.labels},
                {"labeled_images", labeled},
                {"scheme", task.experiment.partition.scheme},
                {"clients", finetuned.labeled.Clients()},
                {"partition_hash", PartitionHash(finetuned.labeled)},
                {"bytes_down", finetuned.bytes_down},
                {"bytes_up", finetuned.bytes_up}});
}

// An encoder alone does about so many images in the time of one image of training; the test images
// are taken to be about as many as the training images.
constexpr double kForwardOnly = 3;

double LinearPasses(const Experiment& e) {
  return (1 + (IsMoco(e) ? MocoEpochs(e) : 1)) / kForwardOnly;
}

double SemiPasses(const Experiment& e) {
  return 1 / kForwardOnly + e.eval.labels * SemiOptionsOf(e).epochs;
}

double FinetunePasses(const Experiment& e) {
  return 1 / kForwardOnly + e.eval.labels * e.eval.rounds * e.eval.local_epochs;
}

// Said where it is not the usual one.
std::string CropText(const Experiment& experiment) {
  const double crop = experiment.eval.crop;
  return crop == EvalOptions{}.crop ? "" : fmt::format(", crops from {:g}", crop);
}

// The table: `kindred eval` and the tests go through it.
constexpr MetricKind kMetrics[] = {
    {"knn", RunKnn, BothSplits, [](const Experiment&) { return 2 / kForwardOnly; },
     [](const Experiment& e) { return fmt::format("k {}, t {}", e.eval.k, e.eval.t); }},
    {"linear", RunLinear, LinearWork, LinearPasses,
     [](const Experiment& e) {
       return IsMoco(e) ? fmt::format("moco, {} epochs, lr 30{}", MocoEpochs(e), CropText(e))
                        : std::string("fast");
     }},
    {"semi", RunSemi, SemiWork, SemiPasses,
     [](const Experiment& e) {
       const SemiOptions options = SemiOptionsOf(e);
       return fmt::format("{:g} % of the labels, {} epochs, lr {} and {}{}", 100 * e.eval.labels,
                          options.epochs, options.trunk_lr, options.head_lr, CropText(e));
     },
     true},
    {"finetune", RunFinetune,
     [](const EvalTask& task) { return FinetuneImages(task.dataset, task.experiment); },
     FinetunePasses,
     [](const Experiment& e) {
       return fmt::format("{:g} % of each client's labels, {} x {} epochs, lr {}{}{}",
                          100 * e.eval.labels, e.eval.rounds, e.eval.local_epochs, e.eval.lr,
                          CropText(e), e.eval.scratch ? ", from scratch" : "");
     }},
};

// Means and sums over the seeds.
void AddScores(const std::vector<Evaluation>& evaluations, Json& result) {
  const size_t classes = evaluations[0].score.per_class.size();
  std::vector<double> accuracies, per_class(classes, 0);
  std::vector<std::vector<int>> confusion(classes, std::vector<int>(classes, 0));
  for (const auto& each : evaluations) {
    accuracies.push_back(each.score.accuracy);
    for (size_t i = 0; i < classes; ++i) {
      per_class[i] += each.score.per_class[i] / static_cast<double>(evaluations.size());
      for (size_t j = 0; j < classes; ++j) confusion[i][j] += each.score.confusion[i][j];
    }
  }
  const MeanDeviation over = MeanAndDeviation(accuracies);
  result["accuracy"] = over.mean;
  result["deviation"] = over.deviation;
  result["accuracies"] = accuracies;
  result["per_class"] = per_class;  // null in JSON: a class without test images
  result["confusion"] = confusion;
}

// What each seed chose and cost: in the result itself where there is one, else seed by seed.
void AddDetails(const std::vector<Evaluation>& evaluations, Json& result) {
  if (evaluations.size() == 1) {
    result.update(evaluations[0].details);
    return;
  }
  for (const auto& each : evaluations) result["by_seed"].push_back(each.details);
}

// The run's folder for this process alone; waits a little for another evaluation to finish its
// line.
std::unique_ptr<FolderLock> LockSoon(const std::filesystem::path& folder) {
  for (int tries = 0;; ++tries) {
    try {
      return std::make_unique<FolderLock>(folder);
    } catch (const Error&) {
      if (tries == 50) throw;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
}

// A line of the run's metrics.jsonl, once it is finished: until then its lines are the rounds'.
void Record(const TrainedEncoder& trained, const Json& result) {
  if (!trained.run || !FileExists(trained.run->summary())) return;
  try {
    const auto lock = LockSoon(trained.run->path());
    Json line = {{"kind", "eval"}, {"round", result["encoder"]["round"]}};
    for (const auto& [key, value] : result.items()) {
      if (key != "confusion" && key != "per_class" && key != "classes" && key != "run") {
        line[key] = value;
      }
    }
    // After the last whole line: a broken one must not swallow this one.
    const auto path = trained.run->metrics();
    const Bytes before = FileExists(path) ? ReadFile(path, uint64_t{1} << 32) : Bytes();
    const auto end = std::find(before.rbegin(), before.rend(), '\n').base();
    MetricsFile(path, static_cast<uint64_t>(end - before.begin())).Append(line);
  } catch (const std::exception& error) {  // the result counts more than its record
    spdlog::warn("not recorded in the run: {}", Printable(error.what()));
  }
}

}  // namespace

std::span<const MetricKind> MetricKinds() { return kMetrics; }

void CheckCanEvaluate(const Encoder& encoder, const Dataset& dataset) {
  if (dataset.train.labels.empty() || dataset.test.labels.empty()) {
    throw DataError(
        "{}: evaluation needs labeled images to train and to test on{}", dataset.name,
        dataset.name == "folder" ? "; make class folders, and test/ or data.holdout" : "");
  }
  if (dataset.Classes() < 2) {
    throw DataError("{}: there is only one class, nothing to tell apart", dataset.name);
  }
  CheckFits(encoder, dataset.train.images);
  CheckFits(encoder, dataset.test.images);
}

Json Evaluate(const MetricKind& metric, const EvalTask& task) {
  const EvalOptions& eval = task.experiment.eval;
  const auto start = std::chrono::steady_clock::now();
  std::vector<Evaluation> evaluations(static_cast<size_t>(eval.seeds));
  {
    Progress progress(metric.name, metric.work(task) * static_cast<uint64_t>(eval.seeds), "images");
    std::mutex mutex;
    uint64_t done = 0;
    const int side_by_side = metric.one_thread ? std::min(Workers(task), eval.seeds) : 1;
    ParallelFor(side_by_side, eval.seeds, [&](int, int i) {
      UseOneThread();
      evaluations[static_cast<size_t>(i)] =
          metric.run(task, eval.seed + static_cast<uint64_t>(i), [&](int images) {
            const std::lock_guard lock(mutex);
            progress.At(done += static_cast<uint64_t>(images));
          });
    });
  }
  Json result = {{"metric", metric.name}, {"protocol", metric.protocol(task.experiment)}};
  AddScores(evaluations, result);
  result["seed"] = eval.seed;
  std::vector<uint64_t> seeds;
  for (int i = 0; i < eval.seeds; ++i) seeds.push_back(eval.seed + static_cast<uint64_t>(i));
  result["seeds"] = seeds;
  result["classes"] = task.dataset.label_names;
  result["train_images"] = task.dataset.train.images.count;
  result["test_images"] = task.dataset.test.images.count;
  AddDetails(evaluations, result);
  result["dataset"] = task.dataset.name;
  result["data_hash"] = DataHash(task.dataset);
  result["version"] = KINDRED_VERSION;
  result["commit"] = EmbeddedFile("commit");
  result["seconds"] =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

Json EvaluateTrained(const MetricKind& metric, const Resolved& resolved,
                     const TrainedEncoder& trained) {
  const Experiment& experiment = *resolved.experiment;
  Dataset dataset = LoadDataset(experiment.data);
  LimitTestImages(dataset, experiment.eval);
  CheckCanEvaluate(trained.encoder, dataset);
  Encoder encoder = trained.encoder;
  encoder.model.engine = experiment.model.engine;
  Json result = Evaluate(metric, {.encoder = encoder,
                                  .dataset = dataset,
                                  .experiment = experiment,
                                  .cache = FeatureCacheFolder()});
  result["run"] = trained.path;
  result["encoder"] = trained.origin;
  // From random weights, the encoder has no part in the number.
  if (!experiment.eval.scratch) result["encoder_digest"] = trained.origin["encoder_digest"];
  for (const auto& [key, from] : {std::pair("config_hash", "config_hash"),
                                  std::pair("partition_hash", "train_partition_hash")}) {
    if (!result.contains(key) && trained.origin.contains(from)) result[key] = trained.origin[from];
  }
  result["config"] = Json::parse(resolved.config.ToJson());  // all that it was evaluated with
  Record(trained, result);
  return result;
}

}  // namespace kindred

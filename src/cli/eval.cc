// `kindred eval knn|linear|semi|finetune`: what an encoder is worth to who has labels.
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/table.h"
#include "cli/command.h"
#include "model/one_thread.h"
#include "record/metrics.h"
#include "run/evaluation.h"

namespace kindred {
namespace {

std::string Percent(double share) {
  return std::isfinite(share) ? fmt::format("{:.2f}", 100 * share) : "-";
}

std::string AccuracyText(const Json& result) {
  const std::string mean = Percent(result["accuracy"]);
  return result["accuracies"].size() == 1
             ? mean
             : fmt::format("{} +- {}", mean, Percent(result["deviation"]));
}

// The accuracy of each class and what it is taken for; counts alone where classes are many.
std::string ByClass(const Json& result) {
  constexpr size_t kMostColumns = 20;
  const auto names = result["classes"].get<std::vector<std::string>>();
  std::vector<std::vector<std::string>> rows = {{"class", "%"}};
  const bool matrix = names.size() <= kMostColumns;
  if (matrix) {
    for (size_t j = 0; j < names.size(); ++j) rows[0].push_back(fmt::format("{}", j));
  }
  for (size_t i = 0; i < names.size(); ++i) {
    std::vector<std::string> row = {fmt::format("{} {}", i, Printable(names[i])),
                                    Percent(result["per_class"][i])};
    if (matrix) {
      for (const int count : result["confusion"][i]) row.push_back(std::to_string(count));
    }
    rows.push_back(row);
  }
  return TextTable(rows);
}

// A line of the run's metrics.jsonl, once it is finished: until then its lines are the rounds'.
void Record(const TrainedEncoder& trained, const Json& result) {
  if (!trained.run || !FileExists(trained.run->summary())) return;
  try {
    const FolderLock lock(trained.run->path());
    Json line = {{"kind", "eval"}};
    for (const char* key :
         {"round", "metric", "protocol", "accuracy", "deviation", "seed", "seeds", "accuracies",
          "labels", "dataset", "train_images", "test_images", "data_hash", "partition_hash",
          "encoder_digest", "version", "seconds", "bytes_down", "bytes_up"}) {
      if (result.contains(key)) line[key] = result[key];
    }
    const auto path = trained.run->metrics();
    MetricsFile(path, FileExists(path) ? std::filesystem::file_size(path) : 0).Append(line);
  } catch (const Error& error) {
    spdlog::warn("not recorded in the run: {}", error.what());
  }
}

Json EvaluateOne(const MetricKind& metric, const ConfigFlags& config,
                 const TrainedEncoder& trained) {
  const Resolved resolved = ResolveFor(config, trained);
  const Experiment& experiment = *resolved.experiment;
  Dataset dataset = LoadDataset(experiment.data);
  if (const int limit = experiment.eval.limit; limit > 0 && limit < dataset.test.images.count) {
    dataset.test =
        Select(dataset.test, LimitIndices(dataset.test.labels, dataset.test.images.count, limit));
  }
  CheckCanEvaluate(trained.encoder, dataset);
  Json result = Evaluate(metric, {.encoder = trained.encoder,
                                  .dataset = dataset,
                                  .experiment = experiment,
                                  .cache = CacheFolder() / "features"});
  result["run"] = trained.path;
  for (const auto& [key, value] : trained.origin.items()) {
    if (!result.contains(key)) {
      result[key] = value;
    } else if (key != "dataset") {
      result["train_" + key] = value;  // such as the seed that it was trained with
    }
  }
  Record(trained, result);
  return result;
}

CommandResult Eval(const MetricKind& metric, const ConfigFlags& config, const EncoderFlags& flags) {
  UseOneThread();
  std::vector<Json> results;
  std::vector<double> accuracies;
  for (const auto& path : flags.runs) {
    results.push_back(EvaluateOne(metric, config, OpenEncoder(flags, path)));
    accuracies.push_back(results.back()["accuracy"]);
  }
  const Json& first = results[0];
  const auto heading = [&](const Json& result) {
    return fmt::format("{}, {} on {}: {} %\n", metric.name, result["protocol"].get<std::string>(),
                       result["dataset"].get<std::string>(), AccuracyText(result));
  };
  if (results.size() == 1) {
    return {heading(first) + "\nlabels down, predictions across\n" + ByClass(first), first};
  }
  std::vector<std::vector<std::string>> rows = {{"run", "accuracy %"}};
  for (const auto& result : results) {
    rows.push_back({Printable(result["run"].get<std::string>()), AccuracyText(result)});
  }
  const MeanDeviation over = MeanAndDeviation(accuracies);
  Json all = {{"metric", metric.name},           {"protocol", first["protocol"]},
              {"accuracy", over.mean},           {"deviation", over.deviation},
              {"accuracies", accuracies},        {"seed", first["seed"]},
              {"data_hash", first["data_hash"]}, {"results", results}};
  return {fmt::format("{}, {}: {} +- {} % over {} runs\n\n{}", metric.name,
                      first["protocol"].get<std::string>(), Percent(over.mean),
                      Percent(over.deviation), results.size(), TextTable(rows)),
          all};
}

}  // namespace

void AddEvalCommand(CLI::App& app, Program& program) {
  CLI::App* eval = app.add_subcommand("eval", "What an encoder is worth to who has labels");
  eval->require_subcommand(1);
  for (const MetricKind& metric : MetricKinds()) {
    auto config = std::make_shared<ConfigFlags>();
    auto flags = std::make_shared<EncoderFlags>();
    CLI::App* command =
        AddCommand(*eval, program, metric.name, metric.summary,
                   [&metric, config, flags] { return Eval(metric, *config, *flags); });
    AddEncoderFlags(*command, flags, true);
    AddConfigFlags(*command, config);
    const auto give = [&](const char* flag, const char* key, const char* meaning) {
      command->add_option_function<std::string>(
          flag,
          [=](const std::string& value) {
            config->given.push_back({key, value, flag});
          },
          fmt::format("{}; short for --set {}=...", meaning, key));
    };
    const std::string name = metric.name;
    if (name == "linear") give("--protocol", "eval.protocol", "fast or moco");
    if (name == "semi" || name == "finetune")
      give("--labels", "eval.labels", "share of the labels");
    if (name != "knn") give("--seeds", "eval.seeds", "how many seeds");
    give("--workers", "train.workers", "threads; 0: one a core");
    if (name == "finetune") {
      command->add_flag_callback(
          "--scratch",
          [config] {
            config->given.push_back({"eval.scratch", "true", "--scratch"});
          },
          "from random weights: the FedAvg row");
    }
  }
}

}  // namespace kindred

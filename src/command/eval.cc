// `kindred eval knn|linear|semi|finetune`: what an encoder is worth to who has labels.
#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "base/table.h"
#include "command/learning.h"
#include "command/open_encoder.h"
#include "model/one_thread.h"
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

// The accuracy of each class and what it is taken for; accuracy alone where classes are many.
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

Json EvaluateOne(const MetricKind& metric, const ConfigFlags& config,
                 const TrainedEncoder& trained) {
  return EvaluateTrained(metric, ResolveFor(config, trained), trained);
}

const MetricKind& MetricNamed(const std::string& name) {
  const auto metrics = MetricKinds();
  const auto metric = std::find_if(metrics.begin(), metrics.end(),
                                   [&](const MetricKind& each) { return each.name == name; });
  Check(metric != metrics.end(), "a command of `kindred eval` has a metric");
  return *metric;
}

}  // namespace

CommandResult Eval(const EvalFlags& flags) {
  UseOneThread();
  const MetricKind& metric = MetricNamed(flags.metric);
  std::vector<Json> results;
  std::vector<double> accuracies;
  for (const auto& path : flags.encoder.runs) {
    results.push_back(EvaluateOne(metric, flags.config, OpenEncoder(flags.encoder, path)));
    accuracies.push_back(results.back()["accuracy"]);
    if (results.back()["data_hash"] != results[0]["data_hash"]) {
      throw UsageError(
          "{} and {} were evaluated on different data: no mean can be taken; give the "
          "same with --config or --set",
          Printable(flags.encoder.runs[0]), Printable(path));
    }
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

}  // namespace kindred

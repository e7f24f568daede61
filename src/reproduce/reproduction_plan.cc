// What is left of a reproduction, and how long that takes.
#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/table.h"
#include "reproduce/reproduction.h"
#include "run/speed.h"

namespace kindred {

Experiment EvaluatedAs(const PlannedScore& score, const Experiment& trained) {
  Experiment experiment = trained;
  experiment.eval.labels = std::stod(score.labels);
  experiment.eval.scratch = score.scratch;
  return experiment;
}

bool Reproduction::Wanted(size_t run) const {
  return std::any_of(scores_.begin(), scores_.end(),
                     [&](const PlannedScore& score) { return score.run == run && !score.done; });
}

void Reproduction::Estimate(const std::atomic<bool>& stop) {
  std::map<std::pair<std::string, std::string>, double> rates;  // by method and dataset
  std::map<std::string, int64_t> images;                        // by dataset; 0: it is not there
  const auto images_of = [&](const Experiment& experiment) {
    const auto [at, fresh] = images.try_emplace(experiment.data.name, 0);
    if (!fresh) return at->second;
    try {
      at->second = LoadDataset(experiment.data).train.images.count;
    } catch (const Error& error) {
      missing_[experiment.data.name] = error.what();
    }
    return at->second;
  };
  const SpeedOptions options = {.turns = 2, .steps = 2, .stop = &stop};
  const auto rate_of = [&](const Experiment& experiment, const std::string& method) {
    auto& rate = rates[{method, experiment.data.name}];
    if (rate > 0) return rate;
    spdlog::info("measuring {} on images as of {}", method, experiment.data.name);
    Experiment measured = experiment;
    measured.method.name = method;
    if (method != experiment.method.name) measured.model.bn_splits = 1;  // evaluation's
    return rate = TrainingRate(measured, options);
  };
  for (size_t i = 0; i < runs_.size(); ++i) {
    PlannedRun& run = runs_[i];
    if (run.done || !run.trains || !Wanted(i)) continue;
    const Experiment& experiment = *run.resolved.experiment;
    const auto& train = experiment.train;
    const int64_t count = images_of(experiment);
    if (count == 0) continue;
    run.seconds = static_cast<double>(count * train.epochs) * train.participation *
                  (train.rounds - run.rounds_done) / rate_of(experiment, experiment.method.name);
  }
  for (auto& score : scores_) {
    if (score.done) continue;
    const Experiment& experiment = *runs_[score.run].resolved.experiment;
    const int64_t count = images_of(experiment);
    if (count == 0) continue;
    const double pass = static_cast<double>(count) / rate_of(experiment, "supervised");
    score.seconds = pass * score.metric->passes(EvaluatedAs(score, experiment));
  }
}

std::string Reproduction::PlanText() const {
  std::vector<std::vector<std::string>> rows = {
      {"run", "state", "scores", "to train", "to evaluate"}};
  double left = 0;
  int to_train = 0;
  for (size_t i = 0; i < runs_.size(); ++i) {
    const PlannedRun& run = runs_[i];
    int all = 0, there = 0;
    double evaluating = 0;
    for (const auto& score : scores_) {
      if (score.run != i) continue;
      ++all;
      there += score.done;
      evaluating += score.seconds;
    }
    left += run.seconds + evaluating;
    to_train += run.trains && !run.done && Wanted(i);
    const std::string state = run.done          ? "trained"
                              : !Wanted(i)      ? "known"
                              : !run.trains     ? "random weights"
                              : run.rounds_done ? fmt::format("{} of {} rounds", run.rounds_done,
                                                              run.resolved.experiment->train.rounds)
                                                : "not begun";
    const bool unknown = Wanted(i) && missing_.contains(run.resolved.experiment->data.name);
    const auto time = [&](double seconds) {
      return unknown ? "?" : seconds > 0 ? HumanDuration(seconds) : "-";
    };
    rows.push_back({run.name, state, fmt::format("{} of {}", there, all), time(run.seconds),
                    time(evaluating)});
  }
  const auto to_score =
      std::count_if(scores_.begin(), scores_.end(), [](const auto& score) { return !score.done; });
  std::string text = TextTable(rows) + "\n";
  for (const auto& [dataset, why] : missing_) {
    text += fmt::format("what needs {} is not counted: {}\n", dataset, why);
  }
  return text + fmt::format(
                    "{} of {} runs to train, {} of {} numbers to evaluate: {} {} on this machine "
                    "as it is now\n",
                    to_train, runs_.size(), to_score, scores_.size(),
                    missing_.empty() ? "about" : "more than", HumanDuration(left));
}

Json Reproduction::PlanJson() const {
  Json plan = {{"scale", choice_.scale},
               {"runs", Json::array()},
               {"scores", Json::array()},
               {"missing", missing_}};
  for (const auto& run : runs_) {
    plan["runs"].push_back({{"name", run.name},
                            {"config_hash", run.config_hash},
                            {"trains", run.trains},
                            {"done", run.done},
                            {"seconds", run.seconds}});
  }
  for (const auto& score : scores_) {
    plan["scores"].push_back({{"file", score.file},
                              {"run", runs_[score.run].name},
                              {"done", score.done},
                              {"seconds", score.seconds}});
  }
  return plan;
}

}  // namespace kindred

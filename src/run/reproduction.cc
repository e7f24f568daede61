#include "run/reproduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/ranks.h"
#include "base/table.h"
#include "client/round.h"
#include "report/page.h"
#include "run/speed.h"
#include "run/summary.h"
#include "run/training.h"
#include "server/checkpoint.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

// How many times as many images a second a network without its backward pass does.
constexpr double kForwardOnly = 3;

const MetricKind& MetricNamed(std::string_view name) {
  for (const auto& metric : MetricKinds()) {
    if (name == metric.name) return metric;
  }
  throw Error(ExitCode::kInternal, "no such metric");
}

// Those of `known` that were asked for, in their own order; all when nothing was.
std::vector<std::string> ChosenOf(const char* what, const std::vector<std::string>& asked,
                                  std::vector<std::string> known) {
  for (const auto& name : asked) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string nearest = Nearest(name, known);
    throw UsageError("{}: no such {}; {}", Printable(name), what,
                     nearest.empty() ? fmt::format("there are {}", fmt::join(known, ", "))
                                     : fmt::format("did you mean {}?", nearest));
  }
  if (asked.empty()) return known;
  std::erase_if(known, [&](const std::string& name) {
    return std::find(asked.begin(), asked.end(), name) == asked.end();
  });
  return known;
}

std::vector<std::string> Names(std::span<const char* const> names) {
  return {names.begin(), names.end()};
}

// All rows of all tables, for --methods.
std::vector<std::string> RowNames(const std::vector<std::string>& tables) {
  std::vector<std::string> names;
  for (const auto& table : TableKinds()) {
    if (std::find(tables.begin(), tables.end(), table.name) == tables.end()) continue;
    for (const auto& kind : table.rows) {
      if (std::find(names.begin(), names.end(), kind.row.name) == names.end()) {
        names.push_back(kind.row.name);
      }
    }
  }
  return names;
}

Json ReadJson(const fs::path& path) {
  if (!FileExists(path)) return nullptr;
  const Bytes bytes = ReadFile(path, uint64_t{1} << 28);
  return Json::parse(bytes.begin(), bytes.end(), nullptr, false);
}

// A reason for tables, which are handed on: files are not named.
std::string WithoutFiles(const std::string& text) {
  static const std::regex kFile(R"([^\s,;:]*/[^\s,;:]*)");
  return std::regex_replace(text, kFile, "(a file)");
}

}  // namespace

Reproduction::Reproduction(TableChoice choice, fs::path out)
    : choice_(std::move(choice)), out_(std::move(out)) {
  ChosenOf("scale", {choice_.scale}, Names(ScaleNames()));
  std::vector<std::string> all, datasets, settings;
  for (const auto& table : TableKinds()) all.push_back(table.name);
  const auto tables = ChosenOf("table", choice_.tables, all);
  for (const auto& kind : DatasetKinds()) datasets.push_back(kind.name);
  for (const auto& scheme : PartitionSchemes()) settings.push_back(scheme.name);
  ChosenOf("dataset", choice_.datasets, datasets);
  ChosenOf("setting", choice_.settings, settings);
  const auto methods = ChosenOf("method", choice_.methods, RowNames(tables));
  for (const auto& kind : TableKinds()) {
    if (std::find(tables.begin(), tables.end(), kind.name) == tables.end()) continue;
    std::vector<TableRow> rows;
    std::vector<const RowKind*> kinds;
    for (const auto& row : kind.rows) {
      if (std::find(methods.begin(), methods.end(), row.row.name) == methods.end()) continue;
      rows.push_back(row.row);
      kinds.push_back(&row);
    }
    if (rows.empty()) continue;
    kinds_.push_back(std::move(kinds));
    std::vector<TableColumn> columns;
    const auto own = choice_.datasets.empty() ? Names(kind.datasets) : choice_.datasets;
    const auto schemes = choice_.settings.empty() ? Names(kind.settings) : choice_.settings;
    for (const auto& dataset : own) {
      for (const auto& setting : schemes) {
        for (const auto& [metric, labels] : kind.looks) {
          columns.push_back({dataset, setting, metric, labels});
        }
      }
    }
    empty_.push_back(
        EmptyTable(kind.name, kind.title, choice_.scale, std::move(rows), std::move(columns)));
  }
  for (int seed = 0; seed < choice_.seeds; ++seed) {
    for (size_t table = 0; table < empty_.size(); ++table) {
      PlanTable(table, static_cast<uint64_t>(seed));
    }
  }
  FindDone();
}

void Reproduction::PlanTable(size_t table, uint64_t seed) {
  const ResultTable& at = empty_[table];
  for (size_t column = 0; column < at.columns.size(); ++column) {
    for (size_t row = 0; row < at.rows.size(); ++row) {
      const RowKind& kind = *kinds_[table][row];
      PlannedScore score;
      score.table = table;
      score.row = row;
      score.column = column;
      score.seed = seed;
      score.run = RunFor(kind, at.columns[column], seed);
      score.metric = &MetricNamed(at.columns[column].metric);
      score.labels = at.columns[column].labels;
      score.scratch = kind.scratch;
      // Finetuning has clients of its own: those of the column, whatever trained the encoder.
      score.file =
          fmt::format("{}.{}{}{}{}.json", runs_[score.run].name, score.metric->name,
                      score.labels == "1" ? "" : "-" + score.labels, kind.scratch ? "-scratch" : "",
                      kind.encoder == RowEncoder::kRandom && !kind.scratch ? "-random" : "");
      scores_.push_back(std::move(score));
    }
  }
}

// The run of a row, planned once.
size_t Reproduction::RunFor(const RowKind& row, const TableColumn& column, uint64_t seed) {
  PlannedRun run;
  run.resolved = RunConfig(row, choice_, column.dataset, column.setting, seed);
  run.config_hash = ConfigHash(run.resolved.config);
  run.trains = row.encoder != RowEncoder::kRandom;
  const bool one = row.encoder == RowEncoder::kCentralized;
  // By what it is trained with, not by who asks: rows of other tables find it.
  run.name = fmt::format("{}-{}-{}-{}", fs::path(row.preset).stem().string(), column.dataset,
                         one ? "centralized" : column.setting, seed);
  for (size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i].config_hash != run.config_hash) continue;
    runs_[i].trains |= run.trains;
    return i;
  }
  runs_.push_back(std::move(run));
  return runs_.size() - 1;
}

void Reproduction::FindDone() {
  for (auto& run : runs_) {
    const RunDir dir(out_ / "runs" / run.name);
    if (!FileExists(dir.config())) continue;
    try {
      CheckGoesOn(dir, run.resolved.config);
      run.done = FinishedSummary(dir).has_value();
      if (const auto state = run.done ? std::nullopt : LoadServerState(dir.checkpoints())) {
        run.rounds_done = state->next_round;
      }
    } catch (const Error& error) {
      run.failed = error.what();
    }
  }
  for (auto& score : scores_) score.done = !ReadScore(score).is_null();
}

// The score's file; null when there is none, or it is of another run or was evaluated otherwise.
Json Reproduction::ReadScore(const PlannedScore& score) const {
  const PlannedRun& run = runs_[score.run];
  Json json = ReadJson(out_ / "scores" / score.file);
  if (!json.is_object() || json.value("run_config_hash", Json()) != run.config_hash ||
      json.value("seed", Json()) != score.seed || !json.value("accuracy", Json()).is_number() ||
      !json.contains(Json::json_pointer("/config/eval"))) {
    return nullptr;
  }
  Experiment experiment = *run.resolved.experiment;
  experiment.eval.labels = std::stod(score.labels);
  experiment.eval.scratch = score.scratch;
  if (json.value("protocol", Json()) != score.metric->protocol(experiment)) return nullptr;
  // The rest of [eval]: other test images, other neighbours.
  Json now = Json::parse(run.resolved.config.ToJson())["eval"], then = json["config"]["eval"];
  for (const char* own : {"labels", "scratch", "seed", "seeds", "every"}) {
    now.erase(own);
    then.erase(own);
  }
  return now == then ? json : Json(nullptr);
}

void Reproduction::Estimate(const std::atomic<bool>& stop) {
  std::map<std::string, double> rates;    // by method
  std::map<std::string, int64_t> images;  // by dataset; 0: it is not there
  const auto images_of = [&](const Experiment& experiment) {
    const auto [at, fresh] = images.try_emplace(experiment.data.name, 0);
    if (!fresh) return at->second;
    try {
      at->second = LoadDataset(experiment.data).train.images.count;
    } catch (const Error& error) {
      spdlog::warn("{}", error.what());
    }
    return at->second;
  };
  const SpeedOptions options = {.turns = 2, .steps = 2, .stop = &stop};
  const auto rate_of = [&](const Experiment& experiment, const std::string& method) {
    auto& rate = rates[method];
    if (rate > 0) return rate;
    spdlog::info("measuring {}", method);
    Experiment measured = experiment;
    measured.method.name = method;
    if (method != experiment.method.name) measured.model.bn_splits = 1;  // evaluation's
    return rate = TrainingRate(measured, options);
  };
  for (auto& run : runs_) {
    if (run.done || !run.trains) continue;
    const Experiment& experiment = *run.resolved.experiment;
    const auto& train = experiment.train;
    run.seconds = static_cast<double>(images_of(experiment) * train.epochs) * train.participation *
                  (train.rounds - run.rounds_done) / rate_of(experiment, experiment.method.name);
  }
  for (auto& score : scores_) {
    if (score.done) continue;
    Experiment experiment = *runs_[score.run].resolved.experiment;
    experiment.eval.labels = std::stod(score.labels);
    const double rate = rate_of(experiment, "supervised");
    const auto count = static_cast<double>(images_of(experiment));
    const auto& eval = experiment.eval;
    const std::string metric = score.metric->name;
    if (metric == "semi") {
      score.seconds = count * eval.labels * (eval.epochs > 0 ? eval.epochs : 20) / rate;
    } else if (metric == "finetune") {
      score.seconds = count * eval.labels * eval.rounds * eval.local_epochs / rate;
    } else {
      const int epochs = eval.protocol == "moco" ? (eval.epochs > 0 ? eval.epochs : 100) : 1;
      score.seconds = count * epochs / rate / kForwardOnly;
    }
    score.seconds += count / rate / kForwardOnly;  // test images
  }
}

std::string Reproduction::PlanText() const {
  std::vector<std::vector<std::string>> rows = {
      {"run", "state", "scores", "to train", "to evaluate"}};
  double left = 0;
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
    const std::string state = run.done          ? "trained"
                              : !run.trains     ? "random weights"
                              : run.rounds_done ? fmt::format("{} of {} rounds", run.rounds_done,
                                                              run.resolved.experiment->train.rounds)
                                                : "not begun";
    const auto time = [](double seconds) { return seconds > 0 ? HumanDuration(seconds) : "-"; };
    rows.push_back({run.name, state, fmt::format("{} of {}", there, all), time(run.seconds),
                    time(evaluating)});
  }
  const auto to_train = std::count_if(
      runs_.begin(), runs_.end(), [](const PlannedRun& run) { return run.trains && !run.done; });
  const auto to_score =
      std::count_if(scores_.begin(), scores_.end(), [](const auto& score) { return !score.done; });
  return TextTable(rows) +
         fmt::format(
             "\n{} of {} runs to train, {} of {} numbers to evaluate: about {} on this "
             "machine as it is now\n",
             to_train, runs_.size(), to_score, scores_.size(), HumanDuration(left));
}

Json Reproduction::PlanJson() const {
  Json plan = {{"scale", choice_.scale}, {"runs", Json::array()}, {"scores", Json::array()}};
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

void Reproduction::Train(PlannedRun& run, const std::atomic<bool>& stop) {
  const RunDir dir(out_ / "runs" / run.name);
  if (!run.trains) {
    if (!FileExists(dir.config())) dir.Create(run.resolved.config.ToToml());
    return;
  }
  spdlog::info("training {}", run.name);
  const auto alone = OneRank();
  TrainRun(run.resolved, dir, *alone, stop);
  run.done = true;
  run.seconds = 0;
}

void Reproduction::Score(PlannedScore& score) {
  const PlannedRun& run = runs_[score.run];
  // The same file may stand in several tables: CCL is a row of one and the last step of another.
  if (!ReadScore(score).is_null()) {
    score.done = true;
    return;
  }
  const fs::path folder = out_ / "runs" / run.name;
  const bool random = score.scratch || score.file.ends_with("-random.json");
  const TrainedEncoder trained =
      OpenTrainedEncoder(folder.string(), random ? std::optional(0) : std::nullopt);
  Resolved resolved;
  resolved.config = BindExperiment(*resolved.experiment);
  resolved.config.ApplyText(run.resolved.config.ToToml(), run.name);
  const std::string by = "kindred reproduce";
  resolved.config.Apply("eval.labels", score.labels, by);
  resolved.config.Apply("eval.scratch", score.scratch ? "true" : "false", by);
  resolved.config.Apply("eval.seed", std::to_string(score.seed), by);
  resolved.config.Apply("eval.seeds", "1", by);
  spdlog::info("evaluating {}{}, {}{}", random ? "the first weights of " : "", run.name,
               score.metric->name,
               score.labels == "1" ? "" : fmt::format(" with {} of the labels", score.labels));
  Json result = EvaluateTrained(*score.metric, resolved, trained);
  result["run"] = run.name;
  result["run_config_hash"] = run.config_hash;
  if (const auto summary = FinishedSummary(RunDir(folder)); summary && !random) {
    result["training"] = {
        {"model_digest", (*summary)["model_digest"]}, {"seconds", (*summary)["seconds"]},
        {"bytes_down", (*summary)["bytes_down"]},     {"bytes_up", (*summary)["bytes_up"]},
        {"version", summary->value("version", "")},   {"commit", summary->value("commit", "")}};
  }
  MakeFolder(out_ / "scores");
  WriteFileAtomically(out_ / "scores" / score.file, result.dump(2) + "\n");
  score.done = true;
  score.seconds = 0;
}

void Reproduction::Run(const std::atomic<bool>& stop) {
  MakeFolder(out_);
  const FolderLock lock(out_);
  for (auto& score : scores_) {
    PlannedRun& run = runs_[score.run];
    if (score.done || !run.failed.empty()) continue;
    if (stop) throw Interrupted{};
    std::string* failed = &run.failed;
    try {
      if (!run.done) Train(run, stop);
      failed = &score.failed;
      Score(score);
      WriteTables();
    } catch (const std::exception& error) {  // one cell's trouble is not the others'
      spdlog::error("{}: {}; its cells stay empty", run.name, Printable(error.what()));
      *failed = error.what();
    }
  }
  WriteTables();
}

std::vector<ResultTable> Reproduction::Tables() const {
  auto tables = empty_;
  for (const auto& score : scores_) {
    TableCell& cell = tables[score.table].cells[score.row][score.column];
    const std::string& failed = runs_[score.run].failed;
    if (cell.failed.empty()) cell.failed = WithoutFiles(failed.empty() ? score.failed : failed);
    const Json json = ReadScore(score);
    if (json.is_null()) continue;
    SeedScore one = {.seed = score.seed, .accuracy = 100 * json.at("accuracy").get<double>()};
    one.provenance = {{"run", runs_[score.run].name}};
    for (const char* key : {"protocol", "encoder_digest", "config_hash", "data_hash",
                            "partition_hash", "version", "run_config_hash", "commit", "seconds",
                            "bytes_down", "bytes_up", "training", "train_images", "test_images"}) {
      if (json.contains(key)) one.provenance[key] = json[key];
    }
    cell.scores.push_back(std::move(one));
  }
  for (auto& table : tables) MarkPlaces(table);
  return tables;
}

void Reproduction::WriteTables() const {
  const auto tables = Tables();
  std::string markdown = fmt::format(
      "# The paper's tables at the {} scale\n\nTop-1 accuracy in percent{}; the paper's number in "
      "brackets. **Best** and <u>second best</u> of each column, upper bounds and random weights "
      "left out.\n\n",
      choice_.scale,
      choice_.seeds > 1
          ? fmt::format(", mean and standard deviation over up to {} seeds", choice_.seeds)
          : ", one seed");
  Json json = {{"kindred", KINDRED_VERSION}, {"scale", choice_.scale}, {"tables", Json::array()}};
  for (const auto& table : tables) {
    markdown += ToMarkdown(table);
    json["tables"].push_back(ToJson(table));
  }
  WriteFileAtomically(out_ / "tables.md", std::string_view(markdown));
  WriteFileAtomically(out_ / "tables.csv", std::string_view(ToCsv(tables)));
  WriteFileAtomically(out_ / "tables.json", std::string_view(json.dump(1) + "\n"));
  WriteFileAtomically(out_ / "tables.html",
                      std::string_view(FrozenPage(
                          {{"live", false}, {"runs", Json::array()}, {"tables", json["tables"]}})));
}

std::vector<std::string> Reproduction::Failures() const {
  std::vector<std::string> failures;
  for (const auto& run : runs_) {
    if (!run.failed.empty()) failures.push_back(run.name + ": " + run.failed);
  }
  for (const auto& score : scores_) {
    if (!score.failed.empty()) failures.push_back(score.file + ": " + score.failed);
  }
  return failures;
}

}  // namespace kindred

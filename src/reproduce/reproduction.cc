#include "reproduce/reproduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "client/round.h"
#include "report/page.h"
#include "run/summary.h"
#include "run/training.h"
#include "server/checkpoint.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

const MetricKind& MetricNamed(std::string_view name) {
  for (const auto& metric : MetricKinds()) {
    if (name == metric.name) return metric;
  }
  throw Error(ExitCode::kInternal, "no such metric");
}

// A reason for tables, which are handed on: files are not named.
std::string WithoutFiles(const std::string& text) {
  static const std::regex kFile(R"([^\s,;:]*/[^\s,;:]*)");
  return std::regex_replace(text, kFile, "(a file)");
}

}  // namespace

Reproduction::Reproduction(TableChoice choice, fs::path out, const std::vector<fs::path>& known)
    : choice_(std::move(choice)),
      out_(std::move(out)),
      chosen_(ChooseTables(choice_)),
      files_(out_ / "scores", known) {
  for (int seed = 0; seed < choice_.seeds; ++seed) {
    for (size_t table = 0; table < chosen_.size(); ++table) {
      PlanTable(table, static_cast<uint64_t>(seed));
    }
  }
  FindDone();
}

void Reproduction::PlanTable(size_t table, uint64_t seed) {
  const ResultTable& at = chosen_[table].empty;
  for (size_t column = 0; column < at.columns.size(); ++column) {
    for (size_t row = 0; row < at.rows.size(); ++row) {
      const RowKind& kind = *chosen_[table].kinds[row];
      PlannedScore score;
      score.table = table;
      score.row = row;
      score.column = column;
      score.seed = seed;
      score.run = RunFor(kind, at.columns[column], seed);
      score.metric = &MetricNamed(at.columns[column].metric);
      score.labels = at.columns[column].labels;
      score.scratch = kind.scratch;
      score.random = kind.encoder == RowEncoder::kRandom;
      score.file = fmt::format("{}.{}{}{}.json", runs_[score.run].name, score.metric->name,
                               score.labels == "1" ? "" : "-" + score.labels,
                               score.scratch  ? "-scratch"
                               : score.random ? "-random"
                                              : "");
      scores_.push_back(std::move(score));
    }
  }
}

// The run of a row, planned once.
size_t Reproduction::RunFor(const RowKind& row, const TableColumn& column, uint64_t seed) {
  PlannedRun run;
  run.resolved = RunConfig(row, choice_, column.dataset, column.setting, seed);
  run.config_hash = ConfigHash(run.resolved.config, *run.resolved.experiment);
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
      const auto summary = FinishedSummary(dir);
      const auto state = summary ? std::nullopt : LoadServerState(dir.checkpoints());
      run.done = summary.has_value();
      if (state) run.rounds_done = state->next_round;
      // A version with other settings had another default for what its file does not name.
      const Json hash = summary ? summary->value("config_hash", Json())
                        : state ? Json(state->identity.substr(0, state->identity.find(' ')))
                                : Json(run.config_hash);
      auto other = OtherConfiguration(dir, run.resolved);
      if (!other && hash != run.config_hash) {
        other = fmt::format(
            "{} was trained with other settings, or by a version that had others; move it away to "
            "train it again, or take another folder",
            Printable(dir.path().string()));
      }
      run.other = other.has_value();
      run.failed = other.value_or("");
    } catch (const Error& error) {
      run.failed = error.what();
    }
  }
  for (auto& score : scores_) score.done = !files_.Find(KeyOf(score)).is_null();
  for (size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i].other && Wanted(i)) throw Error(ExitCode::kExists, runs_[i].failed);
  }
}

ScoreKey Reproduction::KeyOf(const PlannedScore& score) const {
  const PlannedRun& run = runs_[score.run];
  const Experiment experiment = EvaluatedAs(score, *run.resolved.experiment);
  return {.file = score.file,
          .config_hash = run.config_hash,
          .seed = score.seed,
          .protocol = score.metric->protocol(experiment),
          .eval = EvalKeys(Json::parse(run.resolved.config.ToJson())),
          .round = score.random ? 0 : experiment.train.rounds};
}

// Some number still needs it.
void Reproduction::Train(PlannedRun& run, const std::atomic<bool>& stop) {
  const RunDir dir(out_ / "runs" / run.name);
  if (!run.trains) {
    if (!FileExists(dir.config())) dir.Create(TextsOf(run.resolved.config));
    return;
  }
  spdlog::info("training {}", run.name);
  TrainRun(run.resolved, dir, stop);
  run.done = true;
  run.seconds = 0;
}

void Reproduction::Score(PlannedScore& score, const std::atomic<bool>& stop) {
  PlannedRun& run = runs_[score.run];
  // The same file may stand in several tables: CCL is a row of one and the last step of another.
  const ScoreKey key = KeyOf(score);
  if (!files_.Find(key).is_null()) {
    score.done = true;
    return;
  }
  const fs::path folder = out_ / "runs" / run.name;
  const auto open = [&] {
    return OpenTrainedEncoder(folder.string(), score.random ? std::optional(0) : std::nullopt);
  };
  TrainedEncoder trained = open();
  if (trained.origin.value("round", key.round) != key.round) {  // its last checkpoint is damaged
    try {
      Train(run, stop);
    } catch (const Error& error) {
      run.failed = error.what();
      throw;
    }
    trained = open();
  }
  Resolved resolved;
  resolved.config = BindExperiment(*resolved.experiment);
  resolved.config.ApplyText(run.resolved.config.ToToml(), run.name);
  const std::string by = "kindred reproduce";
  resolved.config.Apply("eval.labels", score.labels, by);
  resolved.config.Apply("eval.scratch", score.scratch ? "true" : "false", by);
  resolved.config.Apply("eval.seed", std::to_string(score.seed), by);
  resolved.config.Apply("eval.seeds", "1", by);
  spdlog::info("evaluating {}{}, {}{}", score.random ? "the first weights of " : "", run.name,
               score.metric->name,
               score.labels == "1" ? "" : fmt::format(" with {} of the labels", score.labels));
  Json result = EvaluateTrained(*score.metric, resolved, trained);
  result["run"] = run.name;
  if (const auto summary = FinishedSummary(RunDir(folder)); summary && !score.random) {
    result["training"] = {{"model_digest", (*summary)["model_digest"]},
                          {"seconds", (*summary)["seconds"]},
                          {"cpu_seconds", summary->value("cpu_seconds", Json())},
                          {"bytes_down", (*summary)["bytes_down"]},
                          {"bytes_up", (*summary)["bytes_up"]},
                          {"version", summary->value("version", "")},
                          {"commit", summary->value("commit", "")}};
  }
  files_.Write(key, std::move(result));
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
      Score(score, stop);
      WriteFiles();
    } catch (const std::exception& error) {  // one cell's trouble is not the others'
      spdlog::error("{}: {}; its cells say failed", run.name, Printable(error.what()));
      *failed = error.what();
    }
  }
  WriteFiles();
}

std::vector<ResultTable> Reproduction::Tables() const {
  std::vector<ResultTable> tables;
  for (const auto& each : chosen_) tables.push_back(each.empty);
  for (const auto& score : scores_) {
    TableCell& cell = tables[score.table].cells[score.row][score.column];
    const Json json = files_.Find(KeyOf(score));
    if (json.is_null()) {
      const std::string& failed = runs_[score.run].failed;
      if (cell.failed.empty()) cell.failed = WithoutFiles(failed.empty() ? score.failed : failed);
      continue;
    }
    SeedScore one = {.seed = score.seed, .accuracy = json.at("accuracy").get<double>()};
    one.provenance = {{"run", runs_[score.run].name}, {"file", score.file}};
    for (const char* key :
         {"protocol", "encoder_digest", "config_hash", "data_hash", "partition_hash", "version",
          "run_config_hash", "commit", "seconds", "bytes_down", "bytes_up", "training",
          "train_images", "test_images", "eval", "round"}) {
      if (json.contains(key)) one.provenance[key] = json[key];
    }
    if (json.contains("encoder") && json["encoder"].contains("round")) {
      one.provenance["round"] = json["encoder"]["round"];
    }
    cell.scores.push_back(std::move(one));
  }
  for (auto& table : tables) MarkPlaces(table);
  return tables;
}

void Reproduction::WriteTables() const {
  MakeFolder(out_);
  const FolderLock lock(out_);
  WriteFiles();
}

void Reproduction::WriteFiles() const {
  const auto tables = Tables();
  std::string markdown = fmt::format(
      "# The paper's tables at the {} scale\n\nTop-1 accuracy in percent{}; the paper's number in "
      "brackets. **Best** and <u>second best</u> of each column, upper bounds and random weights "
      "left out.\n\n",
      choice_.scale,
      choice_.seeds > 1
          ? fmt::format(", mean ± sample standard deviation over up to {} seeds", choice_.seeds)
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

int Reproduction::Taken() const {
  return static_cast<int>(
      std::count_if(scores_.begin(), scores_.end(),
                    [&](const PlannedScore& score) { return files_.IsKnown(KeyOf(score)); }));
}

std::vector<std::string> Reproduction::Failures() const {
  std::vector<std::string> failures;
  for (size_t i = 0; i < runs_.size(); ++i) {
    const PlannedRun& run = runs_[i];
    if (!run.failed.empty() && Wanted(i)) failures.push_back(run.name + ": " + run.failed);
  }
  for (const auto& score : scores_) {
    if (!score.failed.empty()) failures.push_back(score.file + ": " + score.failed);
  }
  return failures;
}

}  // namespace kindred

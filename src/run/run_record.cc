#include "run/run_record.h"

#include <fmt/format.h>

#include <sstream>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/progress.h"

namespace kindred {

Json Tally::ToJson() const {
  Json json = {{"seconds", seconds},
               {"cpu_seconds", cpu_seconds},
               {"images", images},
               {"down", bytes_down},
               {"up", bytes_up}};
  if (first_knn) json["first"] = *first_knn;
  if (last_knn) json["last"] = *last_knn;
  json["diagnostics"] = diagnostics;
  return json;
}

Tally Tally::FromJson(const Json& json) {
  Tally tally{.seconds = json.at("seconds"),
              .cpu_seconds = json.value("cpu_seconds", 0.0),
              .images = json.at("images"),
              .bytes_down = json.at("down"),
              .bytes_up = json.at("up")};
  if (json.contains("first")) tally.first_knn = json["first"].get<double>();
  if (json.contains("last")) tally.last_knn = json["last"].get<double>();
  for (const auto& [name, value] : json.at("diagnostics").items()) {
    if (value.is_number()) tally.diagnostics[name] = value.get<double>();  // null: was not finite
  }
  return tally;
}

RunIdentity RunIdentity::FromText(const std::string& text) {
  RunIdentity identity;
  std::istringstream words(text);
  words >> identity.config >> identity.data >> identity.partition;
  if (identity.data.empty()) std::swap(identity.config, identity.data);
  return identity;
}

bool RunIdentity::Simulated() const {
  return !partition.empty() && partition != kFederationPartition;
}

std::optional<std::string> LearningWarning(int round, const Metrics& metrics) {
  constexpr int kFirstRounds = 2;
  constexpr double kCollapsed = 0.7, kLeastRank = 2.5, kSharedCollapsed = 0.95;
  constexpr int kRoundsToLearn = 5;
  constexpr double kGuessing = 0.99;
  const auto value = [&](const char* name) {
    const auto at = metrics.find(name);
    return at == metrics.end() ? 0.0 : at->second;
  };
  if (round < kFirstRounds) return std::nullopt;
  const bool flat = value("feature_rank") > 0 && value("feature_rank") < kLeastRank;
  if (value("feature_cosine") > kCollapsed || flat) {
    return fmt::format(
        "the features collapse: any two have a cosine of {:.2f}, their effective rank is {:.1f}; "
        "a batch norm in the projector (model.projector_norm), more negatives of a client's own, a "
        "higher temperature or a lower train.lr may spread them, where the method has a choice",
        value("feature_cosine"), value("feature_rank"));
  }
  if (value("shared_cosine") > kSharedCollapsed) {
    return fmt::format(
        "the shared features are nearly one point: any two have a cosine of {:.2f}, their "
        "effective "
        "rank is {:.1f}; others learn little from them (privacy.statistics = \"batch\" spreads "
        "them)",
        value("shared_cosine"), value("shared_rank"));
  }
  if (round >= kRoundsToLearn && value("loss_over_chance") > kGuessing) {
    return fmt::format(
        "the loss stays at {:.3f} of the loss of guessing: nothing is learned; sharper targets "
        "(a lower temperature), fewer of them or a higher train.lr may help",
        value("loss_over_chance"));
  }
  return std::nullopt;
}

std::string RoundLine(const RoundReport& report, int rounds, std::optional<double> knn,
                      double seconds_left) {
  const int done = report.round + 1;
  std::string line = fmt::format("round {}/{}: loss {:.4f}", done, rounds, report.loss);
  if (knn) line += fmt::format(", kNN {:.2f} %", 100 * *knn);
  line += fmt::format(", {:.0f} images/s", static_cast<double>(report.images) / report.seconds);
  return done < rounds ? line + ", " + HumanTimeLeft(seconds_left) : line;
}

RunRecord::RunRecord(const RunDir& dir, RunIdentity identity, int rounds, const EncoderInput& input)
    : dir_(dir), identity_(std::move(identity)), rounds_(rounds) {
  state_.identity = identity_.Text();
  state_.input = input.ToText();
}

void RunRecord::Start(const NamedTensors& initial, LocalStore& store) {
  MakeFolder(dir_.checkpoints());
  if (auto saved = LoadCheckpoint(dir_.checkpoints(), store)) {
    if (saved->identity != identity_.Text()) {
      throw UsageError(
          "{}: the checkpoint is of another configuration, other data or another partition; put "
          "back what was changed, or start again in another folder",
          Printable(dir_.path().string()));
    }
    state_ = std::move(*saved);
    tally_ = Tally::FromJson(Json::parse(state_.progress));
    spdlog::info("going on after round {} of {}", state_.next_round, rounds_);
  } else {
    if (FileExists(dir_.metrics())) spdlog::info("no round was finished yet; the run starts over");
    state_.server.global = Clone(initial);
  }
  metrics_.emplace(dir_.metrics(), state_.metrics_offset);
}

void RunRecord::AddRound(const RoundReport& report) {
  tally_.seconds += report.seconds;
  tally_.cpu_seconds += report.cpu_seconds;
  tally_.images += report.images;
  tally_.bytes_down += report.bytes_down;
  tally_.bytes_up += report.bytes_up;
  Json line = {{"kind", "round"},
               {"round", report.round + 1},
               {"loss", report.loss},
               {"lr", report.lr},
               {"clients", report.clients},
               {"who", report.who},
               {"images", report.images},
               {"seconds", report.seconds},
               {"cpu_seconds", report.cpu_seconds},
               {"bytes_down", report.bytes_down},
               {"bytes_up", report.bytes_up}};
  for (const auto& [name, value] : report.metrics) {
    if (!line.contains(name))
      line[name] = value;  // the line's own fields are not a client's to set
  }
  metrics_->Append(line);
  tally_.diagnostics = report.metrics;
  if (!begun_) {
    first_round_ = report.round;
    begun_ = std::chrono::steady_clock::now() -
             std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                 std::chrono::duration<double>(report.seconds));
  }
  untold_ = report;
}

void RunRecord::AddKnn(int round, double accuracy, double seconds) {
  if (round == 0) tally_.first_knn = accuracy;
  tally_.last_knn = accuracy;
  metrics_->Append(
      {{"kind", "knn"}, {"round", round}, {"knn", accuracy}, {"knn_seconds", seconds}});
  if (round == 0) {
    spdlog::info("round 0: kNN {:.2f} %", 100 * accuracy);
  } else {
    untold_knn_ = accuracy;
  }
}

void RunRecord::TellRound() {
  if (!untold_) return;
  const auto now = std::chrono::steady_clock::now();
  const int done = untold_->round + 1;
  const double seconds = std::chrono::duration<double>(now - *begun_).count();
  spdlog::info("{}", RoundLine(*untold_, rounds_, untold_knn_,
                               seconds / (done - first_round_) * (rounds_ - done)));
  if (const auto why = LearningWarning(untold_->round, untold_->metrics)) {
    spdlog::warn("round {}: {}", done, *why);
  }
  untold_.reset();
  untold_knn_.reset();
}

bool RunRecord::Save(int next_round, LocalStore& store) {
  TellRound();
  state_.next_round = next_round;
  state_.metrics_offset = metrics_->offset();
  state_.progress = tally_.ToJson().dump();
  try {
    if (!events_) events_.emplace(dir_.tensorboard(), dir_.metrics());
    events_->CatchUp();
  } catch (const Error& error) {
    spdlog::warn("no TensorBoard file: {}", error.what());
  }
  try {
    metrics_->Sync();
    SaveCheckpoint(dir_.checkpoints(), state_, store);
    return true;
  } catch (const Error& error) {
    if (Finished()) {
      throw DataError("the trained model could not be saved: {}; make room, then --resume",
                      error.what());
    }
    spdlog::warn("no checkpoint of round {}: {}; training goes on", next_round, error.what());
    return false;
  }
}

}  // namespace kindred

// What a run has come to and leaves behind: its model, metrics and checkpoints.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/json.h"
#include "model/encoder.h"
#include "record/event_file.h"
#include "record/metrics.h"
#include "record/run_dir.h"
#include "server/checkpoint.h"
#include "server/round_loop.h"

namespace kindred {

// What a run's checkpoints must belong to, and what its results are stored with.
struct RunIdentity {
  std::string config, data,
      partition;  // hashes; of a coordinator: hash, the run's name, kFederationPartition

  std::string Text() const { return config + " " + data + " " + partition; }
  // From a checkpoint. A client's has the run's name alone, which comes back as `data`.
  static RunIdentity FromText(const std::string& text);

  // One program held the images of all clients.
  bool Simulated() const;
};

// In place of a partition's hash, where nobody knows the partition.
inline constexpr const char* kFederationPartition = "federation";

// Sums over the rounds so far; kept in checkpoints, so that a resumed run sums up the whole.
struct Tally {
  std::optional<double> first_knn, last_knn;
  double seconds = 0, cpu_seconds = 0;
  int64_t images = 0;
  uint64_t bytes_down = 0, bytes_up = 0;
  Metrics diagnostics;  // of the last round

  Json ToJson() const;
  static Tally FromJson(const Json& json);
};

// What is wrong when features have collapsed, a client's own or those that are shared, or the loss
// stays at an even guess's; nothing in a run's first rounds, when all is close to random weights.
std::optional<std::string> LearningWarning(int round, const Metrics& metrics);

// What the log says of a finished round: its loss, kNN if it was checked after this round, speed,
// and the time left if rounds are.
std::string RoundLine(const RoundReport& report, int rounds, std::optional<double> knn,
                      double seconds_left);

// Not to be shared between threads.
class RunRecord {
 public:
  // `dir` must outlive it.
  RunRecord(const RunDir& dir, RunIdentity identity, int rounds, const EncoderInput& input);

  // Goes on from the newest checkpoint, filling `store`, or begins with `initial`. Throws a usage
  // error when the checkpoint belongs to another run.
  void Start(const NamedTensors& initial, LocalStore& store);

  bool Finished() const { return state_.next_round >= rounds_; }
  int NextRound() const { return state_.next_round; }
  ServerState& Server() { return state_.server; }
  const NamedTensors& Global() const { return state_.server.global; }
  // Of a federation over a network, as text; saved with the next checkpoint.
  const std::string& Members() const { return state_.members; }
  void SetMembers(std::string members) { state_.members = std::move(members); }
  const RunIdentity& Identity() const { return identity_; }
  const Tally& Sums() const { return tally_; }

  // A line of metrics.jsonl each.
  void AddRound(const RoundReport& report);
  void AddKnn(int round, double accuracy, double seconds);

  // One line of the log for the round, the checkpoint after it, and TensorBoard's file. False: the
  // checkpoint failed, with a warning, and the one before it stays. Throws a data error when that
  // happens after the last round: its checkpoint is the trained model.
  bool Save(int next_round, LocalStore& store);

 private:
  void TellRound();

  const RunDir& dir_;
  RunIdentity identity_;
  int rounds_;
  RunState state_;
  Tally tally_;
  std::optional<MetricsFile> metrics_;
  std::optional<EventFile> events_;    // TensorBoard's
  std::optional<RoundReport> untold_;  // the round that is not in the log yet
  std::optional<double> untold_knn_;
  int first_round_ = 0;                                         // that this process trained
  std::optional<std::chrono::steady_clock::time_point> begun_;  // when that one began
};

}  // namespace kindred

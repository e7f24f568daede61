// What a run does around its rounds, whoever trains: its numbers and the kNN monitor.
#pragma once

#include <atomic>

#include "method/method.h"
#include "partition/partition.h"
#include "run/experiment.h"
#include "run/run_record.h"

namespace kindred {

// What the monitor looks at.
struct Monitored {
  const Dataset* dataset = nullptr;      // null, or without labels on both splits: no monitor
  const Partition* partition = nullptr;  // who owns its training images; null: not known
  EncoderInput input;
};

// What it is given must outlive it.
class RoundDriver {
 public:
  RoundDriver(const Experiment& experiment, const Method& method, const RunDir& dir,
              RunRecord& record, const Monitored& monitored)
      : experiment_(experiment),
        method_(method),
        dir_(dir),
        record_(record),
        monitored_(monitored) {}

  // Before the first round: the kNN accuracy of the initial weights, unless it is known. Throws
  // Interrupted when `stop` is set.
  void Begin(const std::atomic<bool>& stop);

  // After a round: its line of metrics.jsonl, and every eval.every rounds kNN. Saves nothing, and
  // is not interrupted: a finished round is saved first.
  void EndRound(const RoundReport& report);

 private:
  void MeasureKnn(int round);

  const Experiment& experiment_;
  const Method& method_;
  const RunDir& dir_;
  RunRecord& record_;
  const Monitored monitored_;
};

}  // namespace kindred

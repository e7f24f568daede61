// A federation in this process: every client's images, a pool of workers, the server's rounds.
#pragma once

#include <atomic>
#include <memory>

#include "base/json.h"
#include "run/experiment.h"
#include "run/run_record.h"
#include "transport/in_process.h"

namespace kindred {

class Simulation {
 public:
  // Loads and deals the data; touches no file of the run. `experiment` and `dir` must outlive it.
  // Throws when the options do not fit each other or the data.
  Simulation(const Experiment& experiment, const std::string& config_hash, const RunDir& dir);

  // Goes on from the newest checkpoint, or from the seed's initial weights.
  void Start();

  // Trains what is left. Throws Interrupted when `stop` is set, with the last round's checkpoint
  // written.
  void Train(const std::atomic<bool>& stop);

  // summary.json of the run as it stands.
  Json Summary() const;

 private:
  void OnRound(const RoundReport& report, const std::atomic<bool>& stop);
  void LookAtNeighbors(int round, const std::atomic<bool>& stop);
  uint64_t ImagesLeft() const;
  void CheckMixes() const;

  const Experiment& experiment_;
  Dataset dataset_;
  Partition partition_;
  MethodContext context_;
  int workers_;
  LocalStore store_;
  std::unique_ptr<Method> method_;  // with the seed's initial weights
  RunRecord record_;
};

}  // namespace kindred

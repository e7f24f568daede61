// A federation in this process, or in several that share its clients: every client's images, a pool
// of workers, the server's rounds.
#pragma once

#include <atomic>

#include "base/json.h"
#include "ranks/ranks.h"
#include "run/experiment.h"
#include "run/run_record.h"
#include "run/simulated_clients.h"

namespace kindred {

class Simulation {
 public:
  // Loads and deals the data; touches no file of the run. `experiment`, `dir` and `ranks` must
  // outlive it. `ranks`: those that share the clients, of which this is rank 0; null: this process
  // trains all. Throws when the options do not fit each other or the data, or when another rank is
  // not of the same program, or has other data.
  Simulation(const Experiment& experiment, const std::string& config_hash, const RunDir& dir,
             Ranks* ranks = nullptr);

  // Goes on from the newest checkpoint, or from the seed's initial weights.
  void Start();

  // Trains what is left, with a bar on a terminal and one line per round; without a terminal also a
  // line every five minutes inside a longer round. Throws Interrupted when `stop` is set, with the
  // last round's checkpoint written.
  void Train(const std::atomic<bool>& stop);

  // summary.json of the run as it stands.
  Json Summary() const;

 private:
  uint64_t ImagesLeft() const;

  const Experiment& experiment_;
  const RunDir& dir_;
  Ranks* ranks_;
  SimulatedClients clients_;
  RunRecord record_;
};

// A rank that follows rank 0, which has a Simulation: trains its share of the clients until that
// ends. Touches no file of the run but its scratch.
void FollowSimulation(const Experiment& experiment, const std::string& config_hash,
                      const RunDir& dir, Ranks& ranks, const std::atomic<bool>& stop);

}  // namespace kindred

// A federation in this process, or in several that share its clients: every client's images, a pool
// of workers, the server's rounds.
#pragma once

#include <atomic>
#include <memory>

#include "base/json.h"
#include "base/ranks.h"
#include "run/experiment.h"
#include "run/run_record.h"
#include "transport/in_process.h"

namespace kindred {

class Simulation {
 public:
  // Loads and deals the data; touches no file of the run. `experiment`, `dir` and `ranks` must
  // outlive it. Throws when the options do not fit each other or the data, and on rank 0 when
  // another rank is not of the same program, or has other data.
  Simulation(const Experiment& experiment, const std::string& config_hash, const RunDir& dir,
             Ranks& ranks);

  // Goes on from the newest checkpoint, or from the seed's initial weights. Each of the ranks calls
  // this and Train; rank 0 alone touches the run's files.
  void Start();

  // Trains what is left, with a bar on a terminal and one line per round; without a terminal also a
  // line every five minutes inside a longer round. Throws Interrupted when `stop` is set, with the
  // last round's checkpoint written.
  void Train(const std::atomic<bool>& stop);

  // summary.json of the run as it stands; of rank 0.
  Json Summary() const;

 private:
  void CheckRanks() const;
  void ShareStart();
  bool IsOwn(int client) const { return ranks_.Rank() == rank_of_[static_cast<size_t>(client)]; }
  void BringStates(const std::vector<int>& clients);
  uint64_t ImagesLeft() const;

  const Experiment& experiment_;
  const RunDir& dir_;
  Ranks& ranks_;
  Dataset dataset_;
  Partition partition_;
  std::vector<int> rank_of_;  // by client
  MethodContext context_;
  std::shared_ptr<Foundation> foundation_;  // null: the method needs none
  int workers_;
  LocalStore store_;
  std::unique_ptr<Method> method_;  // with the seed's initial weights
  RunRecord record_;                // of rank 0
  ServerState follower_;            // of the others: what rank 0 has in its record
  int next_round_ = 0;
};

}  // namespace kindred

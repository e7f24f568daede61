// The clients of a simulation as this process plays them: their images, what they train and keep.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/local_store.h"
#include "data/dataset.h"
#include "eval/false_negatives.h"
#include "method/method.h"
#include "partition/partition.h"
#include "ranks/deal.h"
#include "record/run_dir.h"
#include "run/experiment.h"
#include "server/round_loop.h"
#include "transport/in_process.h"

namespace kindred {

// What a digest depends on beside the configuration: the kind of code that runs.
const char* KernelsOf(const std::string& engine);

struct SimulatedClients {
  // Loads and deals the data; touches no file of the run. With several `ranks`, this one trains
  // those that are dealt to it. `experiment` must outlive it. Throws when the options do not fit
  // each other or the data.
  SimulatedClients(const Experiment& experiment, const RunDir& dir, int rank = 0, int ranks = 1);

  // Trains them; the foundation is made first. Throws Interrupted when `hooks.stop` is set. Must
  // not outlive this.
  InProcess MakeTransport(RoundHooks hooks);

  // What the server does each round.
  RoundLoopOptions Rounds() const;

  // What must be the same in all processes of a run, by name.
  std::vector<std::pair<std::string, std::string>> Facts(const std::string& config_hash) const;

  const Experiment& experiment;
  Dataset dataset;
  Partition partition;
  RankOf rank_of;
  MethodContext context;
  std::shared_ptr<Foundation> foundation;  // null: the method needs none
  int workers;
  LocalStore store;
  std::unique_ptr<Method> method;  // with the seed's initial weights

 private:
  std::optional<FalseNegatives> observer_;
};

}  // namespace kindred

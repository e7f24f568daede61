// summary.json: what a run says of itself when it is over.
#pragma once

#include <string>

#include "base/json.h"
#include "method/method.h"
#include "run/experiment.h"
#include "run/run_record.h"

namespace kindred {

enum class RunKind {
  kSimulation,   // one program holds the images of all clients
  kCoordinator,  // of a federation over a network
  kClient,       // of a federation over a network
};

// What every kind of run has to say; the rest its own code adds.
struct RunSummary {
  RunKind kind = RunKind::kSimulation;
  const Experiment& experiment;
  const Method& method;
  const NamedTensors& model;
  size_t clients = 0;
  Tally sums;
  std::string config_hash;  // empty: the configuration is another's
};

Json ToJson(const RunSummary& summary);

}  // namespace kindred

// The server's algorithm: choose clients, send the model, average what comes back, again.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "aggregate/rule_options.h"
#include "server/feature_pool.h"
#include "server/optimizer_kinds.h"
#include "server/server_options.h"
#include "server/train_options.h"
#include "server/update_checks.h"
#include "transport/transport.h"

namespace kindred {

// What a round did.
struct RoundReport {
  int round = 0;
  double lr = 0;
  double loss = 0;  // mean over clients, weighted by their steps
  int clients = 0;
  std::vector<int> who;                   // those whose update counted, in rising order
  int64_t images = 0;                     // seen by training, views counted once
  int64_t weight = 0;                     // sum of |D_c|
  uint64_t bytes_down = 0, bytes_up = 0;  // what the plan and the updates carry
  double seconds = 0;
  double cpu_seconds = 0;  // of all threads of all processes of the run, until the updates are in
  Metrics metrics;         // of the clients, means weighted by their steps
  // Whose weight was cut below |D_c| (server.max_share, server.max_claimed_share), to how much.
  std::map<int, int64_t> cut;
};

// What the server holds between two rounds.
struct ServerState {
  NamedTensors global;
  FeaturePool pool;
  RecentDeltas recent = {};     // how far updates went in the last rounds
  NamedTensors optimizer = {};  // what server.optimizer keeps
};

struct RoundLoopOptions {
  TrainOptions train;
  FeatureOptions features = {};
  RuleOptions rule = {};
  OptimizerOptions optimizer = {};
  std::vector<std::string> trained = {};  // TrainedNames: what the optimiser steps
  std::set<std::string> metrics = {};     // names that a report may have; empty: any
  LimitOptions limits = {};
  double over_selection = 0;    // how many more clients are asked than are wanted, a share of them
  int first = 0;                // round to begin with
  int features_width = 128;     // what shared features must be,
  int features_most = 1 << 20;  // and how many a client may share
  bool unit_rows = true;        // MechanismKind::unit_rows
  // |D_c| that a client enrolled with; an update must say the same. Not set: not known, and
  // limits.max_share must be 1.
  std::function<int64_t(int client)> images_of = {};
  // Of these clients, those whose number is their own word; asked when a round begins. Set where
  // clients may fail to report: then shares are of those who did. Not set: all who are asked
  // report, and nobody's number is doubted.
  std::function<std::set<int>(const std::vector<int>& clients)> claims_of = {};
};

// The learning rate of a round: cosine from lr to 0 over the rounds.
double CosineRate(double lr, int round, int rounds);

// What a client is sent in a round that begins with this state.
Plan PlanFrom(const RoundLoopOptions& options, const ServerState& state, int round, int client);

// Runs rounds first, ..., rounds - 1 from the state, which it replaces after each; then on_round
// may keep it. An update that cannot be (CheckUpdate) is refused whole, its features with it: the
// transport is told why, and the round is as if the client had sent nothing. Leaves by the
// transport's exceptions with the state of the last whole round.
void RunRounds(const RoundLoopOptions& options, Transport& transport, ServerState& state,
               const std::function<void(const RoundReport&)>& on_round);

}  // namespace kindred

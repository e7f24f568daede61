// How fast this machine trains what a configuration says: by engine and workers, and where the time
// of a step goes.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "run/experiment.h"

namespace kindred {

// A way to spend the machine's cores.
struct Spending {
  std::string engine;  // fast or torch
  int workers = 1;     // clients at a time
  int threads = 1;     // inside each
  int cores = 1;       // the train.workers that does this
  double images_per_second = 0;
};

// A part of a step of one client on one core.
struct StepPart {
  std::string name;
  double seconds = 0;
};

struct Speed {
  std::vector<Spending> spendings;
  std::string engine;           // whose step was taken apart
  std::vector<StepPart> parts;  // they sum to step_seconds
  double step_seconds = 0;
  double bytes_per_worker = 0;  // of memory, about: what the steps' model and client added
};

struct SpeedOptions {
  int turns = 3;         // each way is measured so often, in turns; the median counts
  int steps = 2;         // of a client, a turn
  int most_workers = 0;  // 0: one per core
  const std::atomic<bool>* stop = nullptr;
  std::function<void(int done, int all)> on_measured = {};
};

// The ways worth trying for rounds of so many clients: both engines, train.workers = 1, 2, 4, ...
// up to the cores, and one client with all of them.
std::vector<Spending> WaysToSpend(int cores, int clients);

// Clients in a round by partition.clients, 5 when that is 0, and train.participation.
int UsualClients(const Experiment& experiment);

// The way of most images per second among those that a round of so many clients takes: its workers
// are as many as train.workers, or as the clients when these are fewer.
const Spending& BestFor(int clients, const std::vector<Spending>& ways);

// Images a second of whole rounds the way the configuration says: `turns` of a few steps, their
// median. Throws Interrupted when `stop` is set.
double TrainingRate(const Experiment& experiment, const SpeedOptions& options);

// Pixels of a side of what is measured on: data.size, or the dataset's own, or 32 where that is
// any.
int SideOf(const DataOptions& options);

// A way's rate is that of whole rounds: training, features of encodings, averaging. Trains on drawn
// noise of SideOf pixels and data.channels channels: no dataset is needed. Throws Interrupted when
// `stop` is set.
Speed MeasureSpeed(const Experiment& experiment, const SpeedOptions& options);

}  // namespace kindred

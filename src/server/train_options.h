// [train]: rounds, and how clients train in them.
#pragma once

#include <cstdint>

#include "base/config.h"

namespace kindred {

// [train]
struct TrainOptions {
  int rounds = 50;
  int epochs = 2;
  int batch = 32;
  double lr = 0.06;
  double momentum = 0.9;
  double weight_decay = 5e-4;
  double participation = 1.0;  // beta
  uint64_t seed = 0;
  int workers = 0;    // 0: one per core
  int memory = 1024;  // MB of clients' local states kept in memory; the rest goes to disk
};

void Bind(Config& config, TrainOptions& options);

}  // namespace kindred

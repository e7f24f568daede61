// [eval]: how the encoder is looked at, while it trains and afterwards.
#pragma once

#include <cstdint>
#include <string>

#include "base/config.h"

namespace kindred {

struct EvalOptions {
  int every = 5;                  // rounds between two looks; start and end are always looked at
  int k = 200;                    // kNN: neighbours that vote
  double t = 0.1;                 // kNN: temperature of their votes
  int limit = 0;                  // test images; 0: all
  std::string protocol = "fast";  // linear: fast, or moco
  double labels = 0.1;            // semi, finetune: share of the labels
  int epochs = 0;                 // linear (moco), semi; 0: the protocol's own (100, 20)
  double crop = 0.2;              // moco, semi, finetune: least area of a random crop
  int rounds = 20;                // finetune
  int local_epochs = 5;           // finetune: epochs per round
  double lr = 0.1;                // finetune: of the first round, cosine to 0
  bool scratch = false;           // finetune: from random weights, the FedAvg row
  uint64_t seed = 0;              // of heads, label choices and held-out images
  int seeds = 1;                  // seed, seed + 1, ...: mean and deviation
};

void Bind(Config& config, EvalOptions& options);

}  // namespace kindred

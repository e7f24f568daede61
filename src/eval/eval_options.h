// [eval]: how often and how the encoder is looked at while it trains.
#pragma once

#include "base/config.h"

namespace kindred {

struct EvalOptions {
  int every = 5;   // rounds between two looks; the start and the end are always looked at
  int k = 200;     // neighbours that vote
  double t = 0.1;  // temperature of their votes
  int limit = 0;   // test images; 0: all
};

void Bind(Config& config, EvalOptions& options);

}  // namespace kindred

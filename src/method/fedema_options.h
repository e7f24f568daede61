// [fedema] of a configuration.
#pragma once

#include "base/config.h"

namespace kindred {

// [fedema]
struct FedemaOptions {
  double tau = 0.7;  // the autoscaler's, Zhuang et al. 2022
};

void Bind(Config& config, FedemaOptions& options);

}  // namespace kindred

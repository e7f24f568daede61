// [simclr] of a configuration.
#pragma once

#include "base/config.h"

namespace kindred {

// [simclr]
struct SimclrOptions {
  double tau = 0.5;  // Chen et al. 2020: their choice for CIFAR-10
};

void Bind(Config& config, SimclrOptions& options);

}  // namespace kindred

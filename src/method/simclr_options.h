// [simclr] of a configuration.
#pragma once

#include "base/config.h"

namespace kindred {

// [simclr]
struct SimclrOptions {
  double tau = 0.2;  // chosen on CIFAR-100: results/comparison.md; Chen et al. 2020 have .5
};

void Bind(Config& config, SimclrOptions& options);

}  // namespace kindred

// [swav] of a configuration.
#pragma once

#include "base/config.h"

namespace kindred {

// [swav]. Caron et al. 2020: epsilon, three iterations, tau .1; prototypes are ours.
struct SwavOptions {
  int prototypes = 512;   // P
  double epsilon = 0.05;  // smoothness of the codes
  int iterations = 3;     // of Sinkhorn and Knopp
  double tau = 0.1;       // temperature of the prediction
};

void Bind(Config& config, SwavOptions& options);

}  // namespace kindred

// FedSwAV: predicting the other view's assignment to prototypes (Caron et al. 2020) on each client,
// averaged.
#pragma once

#include <memory>

#include "method/method.h"

namespace kindred {

// [swav]. Caron et al. 2020: epsilon, three iterations, tau .1; prototypes are ours.
struct SwavOptions {
  int prototypes = 512;   // P
  double epsilon = 0.05;  // smoothness of the codes
  int iterations = 3;     // of Sinkhorn and Knopp
  double tau = 0.1;       // temperature of the prediction
};

void Bind(Config& config, SwavOptions& options);

// Shared: "encoder/...", "projector/..." and "prototypes/weight" [P, D]. Kept: nothing.
std::unique_ptr<Method> MakeSwav(const MethodContext& context);

}  // namespace kindred

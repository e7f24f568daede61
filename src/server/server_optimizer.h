// The server's optimiser: how the mean of a round's models becomes the next global model.
#pragma once

#include <string>
#include <vector>

#include "model/named_tensors.h"
#include "server/optimizer_kinds.h"

namespace kindred {

// With Delta = mean - theta, the round's mean update, for each value of a trained tensor:
//
//   none       theta <- mean
//   momentum   m <- beta m + Delta                 theta <- theta + lr m           (FedAvgM)
//   adam       v <- beta2 v + (1 - beta2) Delta^2
//              m <- beta m + (1 - beta) Delta      theta <- theta + lr m / (sqrt(v) + tau)
//                                                                                  (FedAdam)
//   yogi       the same with v <- v - (1 - beta2) Delta^2 sign(v - Delta^2)        (FedYogi)
//
// beta, beta2 and tau are server.momentum, server.second_momentum and server.adaptivity. m starts
// at 0, v at 0 (momentum) or tau^2 (adam, yogi), as in the papers; there is no bias correction.
//
// theta: the global model of the round. mean: its clients' mean, which becomes the next model.
// trained: names of the tensors that SGD changes on the clients; all others (running statistics,
// counters, momentum models) are left as averaged. state: what the optimiser keeps between rounds,
// empty before the first; "m/NAME" and "v/NAME". Throws a usage error when a value leaves what a
// model may hold.
void StepServer(const OptimizerOptions& options, const NamedTensors& theta,
                const std::vector<std::string>& trained, NamedTensors& mean, NamedTensors& state);

}  // namespace kindred

// The momentum model's update.
#pragma once

#include "model/network.h"

namespace kindred {

// theta_k <- m theta_k + (1 - m) theta_q, parameters only: running statistics are k's own (paper,
// Sect. 2 on MoCo).
void UpdateMomentum(NetworkImpl& k, const NetworkImpl& q, double m);

}  // namespace kindred

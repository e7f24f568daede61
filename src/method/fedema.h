// FedEMA: BYOL whose clients mix the global model with their own by how far the two are apart
// (Zhuang et al. 2022).
#pragma once

#include <memory>

#include "method/fedema_options.h"
#include "method/method.h"

namespace kindred {

// mu of a client's own model, W <- mu W_own + (1 - mu) W_global: min(lambda * divergence, 1).
double OwnShare(double lambda, double divergence);

// Shared: as byol. Kept: byol's target, the client's own last online network and predictor
// "own/...", and "lambda", which the autoscaler sets at the client's first merge.
std::unique_ptr<Method> MakeFedema(const MethodContext& context);

}  // namespace kindred

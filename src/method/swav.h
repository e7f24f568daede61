// FedSwAV: predicting the other view's assignment to prototypes (Caron et al. 2020) on each client,
// averaged.
#pragma once

#include <memory>

#include "method/method.h"
#include "method/swav_options.h"

namespace kindred {

// Shared: "encoder/...", "projector/..." and "prototypes/weight" [P, D]. Kept: nothing.
std::unique_ptr<Method> MakeSwav(const MethodContext& context);

}  // namespace kindred

// FedSimCLR: contrast inside the batch (Chen et al. 2020) on each client, averaged.
#pragma once

#include <memory>

#include "method/method.h"
#include "method/simclr_options.h"

namespace kindred {

// Shared: "encoder/..." and "projector/...". Kept: nothing.
std::unique_ptr<Method> MakeSimclr(const MethodContext& context);

}  // namespace kindred

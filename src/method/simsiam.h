// FedSimSiam: predicting one's other view, without a slow copy (Chen and He 2021), on each client,
// averaged.
#pragma once

#include <memory>

#include "method/method.h"

namespace kindred {

// Shared: "encoder/...", "projector/..." and "predictor/...". Kept: nothing.
std::unique_ptr<Method> MakeSimsiam(const MethodContext& context);

}  // namespace kindred

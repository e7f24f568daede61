// FedRot: telling how an image was turned (Gidaris et al. 2018) on each client, averaged.
#pragma once

#include <memory>

#include "method/method.h"

namespace kindred {

// Shared: "encoder/..." and "head/...". Kept: nothing.
std::unique_ptr<Method> MakeRotation(const MethodContext& context);

}  // namespace kindred

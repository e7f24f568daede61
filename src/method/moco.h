// MoCo on one client: momentum contrast against the client's own bank of keys.
#pragma once

#include <memory>

#include "method/method.h"

namespace kindred {

// Shared: "q/..." and "k/...", the main and the momentum model. Kept: the local bank.
std::unique_ptr<Method> MakeMoco(const MethodContext& context);

}  // namespace kindred

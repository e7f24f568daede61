// Collaborative contrastive learning on one client (the paper's method), and momentum contrast,
// which it becomes without the others.
#pragma once

#include <memory>

#include "method/ccl_options.h"
#include "method/method.h"

namespace kindred {

// Shared: "q/..." and "k/...", the main and the momentum model. Kept: the local bank.
std::unique_ptr<Method> MakeCcl(const MethodContext& context);

// The same with local negatives and no matching: MoCo.
std::unique_ptr<Method> MakeMoco(const MethodContext& context);

}  // namespace kindred

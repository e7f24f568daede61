// FedAvg with labels (McMahan et al. 2017): what unlabeled learning is measured against, and what
// collaborative finetuning runs.
#pragma once

#include <memory>

#include "method/method.h"

namespace kindred {

// Shared: "encoder/..." and "head/...". Kept: nothing.
std::unique_ptr<Method> MakeSupervised(const MethodContext& context);

}  // namespace kindred

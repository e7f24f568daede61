// FedSimCLR: contrast inside the batch (Chen et al. 2020) on each client, averaged.
#pragma once

#include <memory>

#include "method/method.h"

namespace kindred {

// [simclr]
struct SimclrOptions {
  double tau = 0.5;  // Chen et al. 2020: their choice for CIFAR-10
};

void Bind(Config& config, SimclrOptions& options);

// Shared: "encoder/..." and "projector/...". Kept: nothing.
std::unique_ptr<Method> MakeSimclr(const MethodContext& context);

}  // namespace kindred

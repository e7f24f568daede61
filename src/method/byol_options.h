// [byol] of a configuration.
#pragma once

#include "base/config.h"

namespace kindred {

// [byol]: `fedema` takes it too.
struct ByolOptions {
  double momentum = 0.99;  // of the target network; what Zhuang et al. 2022 give FedBYOL and FedEMA
  int hidden = 512;  // of projector and predictor; 4096 beside a ResNet-50 in Grill et al. 2020
};

void Bind(Config& config, ByolOptions& options);

}  // namespace kindred

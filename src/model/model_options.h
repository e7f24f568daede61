// [model]: which network, and how wide.
#pragma once

#include <string>

#include "base/config.h"

namespace kindred {

struct ModelOptions {
  std::string arch = "resnet18";  // resnet18 or resnet10
  int width = 16;                 // channels of the first stage; the last has 8 times as many
  int dim = 128;                  // of a feature z
  int bn_splits = 2;              // groups in which a training batch is normalised
};

void Bind(Config& config, ModelOptions& options);

}  // namespace kindred

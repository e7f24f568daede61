// [model]: which network, and how wide; and what computes it.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "base/config.h"

namespace kindred {

struct ModelOptions {
  std::string arch = "resnet18";  // resnet18 or resnet10
  int width = 16;                 // channels of the first stage; the last has 8 times as many
  int dim = 128;                  // of a feature z
  int bn_splits = 1;              // groups in which a training batch is normalised
  bool projector_norm = true;     // batch norm after the projector's hidden layer
  std::string engine = "fast";    // train.engine: fast (kernel/) or torch
  // Threads inside a convolution of the fast engine, read anew by each; null: one. Changes no bit.
  std::shared_ptr<const std::atomic<int>> threads = nullptr;
};

void Bind(Config& config, ModelOptions& options);

// train.engine, which belongs to another section.
void BindEngine(Config& config, ModelOptions& options);

}  // namespace kindred

// [method] and [ccl]: which method, and its numbers.
#pragma once

#include <string>

#include "base/config.h"

namespace kindred {

// [ccl]: momentum contrast, alone (`moco`) or collaborative.
struct CclOptions {
  int bank = 1024;         // K: keys in the local bank
  double tau = 0.1;        // temperature of the contrastive loss
  double momentum = 0.99;  // m: how slowly the momentum model follows
};

// [method] and a table a method.
struct MethodOptions {
  std::string name = "moco";
  CclOptions ccl;
};

void Bind(Config& config, MethodOptions& options);

}  // namespace kindred

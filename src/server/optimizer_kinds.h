// The server's optimisers: their table and [server]'s keys for them. No LibTorch.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/config.h"

namespace kindred {

// [server]
struct OptimizerOptions {
  std::string optimizer = "none";  // of the table below
  double lr = 0;                   // 0: the optimiser's usual rate
  double momentum = 0.9;           // beta
  double second_momentum = 0.99;   // beta2 of adam and yogi
  double adaptivity = 1e-3;        // tau of adam and yogi: below it, updates are not scaled up
};

// An entry of the table: to add an optimiser, write its step in server_optimizer.cc and a line in
// optimizer_kinds.cc.
struct OptimizerKind {
  const char* name;
  const char* reference;  // paper, venue, year
  const char* summary;
  double usual_rate;
  uint64_t moments;  // what it keeps of each trained value: nothing, m, or m and v
};

void Bind(Config& config, OptimizerOptions& options);

std::span<const OptimizerKind> OptimizerKinds();

// The entry of that name. Throws a usage error when there is none.
const OptimizerKind& OptimizerNamed(const std::string& name);

}  // namespace kindred

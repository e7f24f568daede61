// [ccl] of a configuration.
#pragma once

#include <string>

#include "base/config.h"

namespace kindred {

// [ccl]: momentum contrast, alone (`moco`) or collaborative.
struct CclOptions {
  std::string negatives = "union";  // remote: Q_s alone; union: Q_l and Q_s; local: Q_l alone
  int bank = 1024;                  // K: keys in the local bank, features shared, candidates drawn
  int neighbors = 5;                // N: neighbours a query is matched to
  double tau = 0.1;                 // temperature of the contrastive loss
  double tau_nm = 0.05;             // temperature of neighborhood matching
  double lambda = 0.05;             // weight of neighborhood matching; 0: none
  double warmup = 0.1;              // share of the rounds over which lambda rises from 0
  double momentum = 0.996;          // m: how slowly the momentum model follows
  bool symmetric = false;           // each view is a query once, at twice the cost of a step
};

void Bind(Config& config, CclOptions& options);

}  // namespace kindred

// [server]: what an update may be.
#pragma once

#include "base/config.h"
#include "server/capped_weights.h"

namespace kindred {

// [server]: bounds on one client's influence.
struct LimitOptions {
  double max_norm = 0;     // of theta_c - theta, all floats, variances by their roots; 0: none
  double norm_ratio = 10;  // the same, times what is usual (usual_delta.h); 0: none
  double max_share = 1;    // of the weights of a round's clients; 1: none
  double max_claimed_share = 0.5;  // the same of those whose number of images is their own word
};

inline ShareLimits SharesOf(const LimitOptions& options) {
  return {.any = options.max_share, .claimed = options.max_claimed_share};
}

void Bind(Config& config, LimitOptions& options);

}  // namespace kindred

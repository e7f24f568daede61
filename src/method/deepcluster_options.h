// [deepcluster] of a configuration.
#pragma once

#include "base/config.h"

namespace kindred {

// [deepcluster]. DeepCluster-v2 of Caron et al. 2020: heads, iterations, tau; clusters
// are ours.
struct DeepClusterOptions {
  int clusters = 64;    // K of each head; a client with fewer images has one per image
  int heads = 3;        // clusterings at a time
  int iterations = 10;  // of k-means
  double tau = 0.1;     // temperature of the prediction
};

void Bind(Config& config, DeepClusterOptions& options);

}  // namespace kindred

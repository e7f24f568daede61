// FedDC: predicting the clusters of one's own embeddings (DeepCluster-v2, Caron et al. 2020) on
// each client, averaged.
#pragma once

#include <memory>

#include "method/method.h"

namespace kindred {

// [deepcluster]. DeepCluster-v2 of Caron et al. 2020: heads, iterations, tau; clusters
// are ours.
struct DeepClusterOptions {
  int clusters = 64;    // K of each head; a client with fewer images has one an image
  int heads = 3;        // clusterings at a time
  int iterations = 10;  // of k-means
  double tau = 0.1;     // temperature of the prediction
};

void Bind(Config& config, DeepClusterOptions& options);

// Shared: "encoder/..." and "projector/...". Kept during a round: "memory" [2, |D_c|, D], the last
// embeddings of both views of each image, begun with a pass of the model that is sent. Heads are
// its clusters, made anew each epoch, and stay with the client.
std::unique_ptr<Method> MakeDeepCluster(const MethodContext& context);

}  // namespace kindred

// FedDC: predicting the clusters of one's own embeddings (DeepCluster-v2, Caron et al. 2020) on
// each client, averaged.
#pragma once

#include <memory>

#include "method/deepcluster_options.h"
#include "method/method.h"

namespace kindred {

// Shared: "encoder/..." and "projector/...". Kept during a round: "memory" [2, |D_c|, D], the last
// embeddings of both views of each image, begun with a pass of the model that is sent. Heads are
// its clusters, made anew each epoch, and stay with the client.
std::unique_ptr<Method> MakeDeepCluster(const MethodContext& context);

}  // namespace kindred

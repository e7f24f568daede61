#include "method/deepcluster_options.h"

namespace kindred {

void Bind(Config& config, DeepClusterOptions& options) {
  config.BindForClients("deepcluster.clusters", &options.clusters,
                        "K: clusters per head, at most as many as a client has images",
                        {.least = 2, .most = 1 << 20});
  config.BindForClients("deepcluster.heads", &options.heads, "clusterings made side by side",
                        {.least = 1, .most = 64});
  config.BindForClients("deepcluster.iterations", &options.iterations, "iterations of k-means",
                        {.least = 1, .most = 1000});
  config.BindForClients("deepcluster.tau", &options.tau, "temperature of the prediction",
                        {.least = 1e-3, .most = 100});
}

}  // namespace kindred

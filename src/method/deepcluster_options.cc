#include "method/deepcluster_options.h"

namespace kindred {

void Bind(Config& config, DeepClusterOptions& options) {
  config.Bind("deepcluster.clusters", &options.clusters,
              "K: clusters of each head, at most as many as images", {.least = 2, .most = 1 << 20});
  config.Bind("deepcluster.heads", &options.heads, "clusterings at a time",
              {.least = 1, .most = 64});
  config.Bind("deepcluster.iterations", &options.iterations, "of k-means",
              {.least = 1, .most = 1000});
  config.Bind("deepcluster.tau", &options.tau, "temperature of the prediction",
              {.least = 1e-3, .most = 100});
}

}  // namespace kindred

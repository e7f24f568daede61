#include "method/swav_options.h"

namespace kindred {

void Bind(Config& config, SwavOptions& options) {
  config.BindForClients("swav.prototypes", &options.prototypes,
                        "P: prototypes that views are assigned to", {.least = 2, .most = 1 << 20});
  config.BindForClients("swav.epsilon", &options.epsilon, "smoothness of the codes",
                        {.least = 1e-3, .most = 100});
  config.BindForClients("swav.iterations", &options.iterations,
                        "iterations of Sinkhorn and Knopp's algorithm", {.least = 1, .most = 1000});
  config.BindForClients("swav.tau", &options.tau, "temperature of the prediction",
                        {.least = 1e-3, .most = 100});
}

}  // namespace kindred

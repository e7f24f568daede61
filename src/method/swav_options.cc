#include "method/swav_options.h"

namespace kindred {

void Bind(Config& config, SwavOptions& options) {
  config.Bind("swav.prototypes", &options.prototypes, "P: what views are assigned to",
              {.least = 2, .most = 1 << 20});
  config.Bind("swav.epsilon", &options.epsilon, "smoothness of the codes",
              {.least = 1e-3, .most = 100});
  config.Bind("swav.iterations", &options.iterations, "of Sinkhorn and Knopp's algorithm",
              {.least = 1, .most = 1000});
  config.Bind("swav.tau", &options.tau, "temperature of the prediction",
              {.least = 1e-3, .most = 100});
}

}  // namespace kindred

#include "method/byol_options.h"

namespace kindred {

void Bind(Config& config, ByolOptions& options) {
  config.BindForClients("byol.momentum", &options.momentum, "how slowly the target network follows",
                        {.least = 0, .most = 1});
  config.BindForClients("byol.hidden", &options.hidden,
                        "width of the hidden layer in projector and predictor",
                        {.least = 1, .most = 65536});
}

}  // namespace kindred

#include "method/simclr_options.h"

namespace kindred {

void Bind(Config& config, SimclrOptions& options) {
  config.BindForClients("simclr.tau", &options.tau, "temperature of the contrastive loss",
                        {.least = 1e-3, .most = 100});
}

}  // namespace kindred

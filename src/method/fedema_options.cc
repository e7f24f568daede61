#include "method/fedema_options.h"

namespace kindred {

void Bind(Config& config, FedemaOptions& options) {
  config.BindForClients("fedema.tau", &options.tau,
                        "share of its own model that a client keeps when it first merges",
                        {.least = 0, .most = 1});
}

}  // namespace kindred

#include "method/fedema_options.h"

namespace kindred {

void Bind(Config& config, FedemaOptions& options) {
  config.Bind("fedema.tau", &options.tau,
              "share of its own model that a client keeps at its first merge",
              {.least = 0, .most = 1});
}

}  // namespace kindred

#include "method/byol_options.h"

namespace kindred {

void Bind(Config& config, ByolOptions& options) {
  config.Bind("byol.momentum", &options.momentum, "how slowly the target network follows",
              {.least = 0, .most = 1});
  config.Bind("byol.hidden", &options.hidden, "width of projector and predictor inside",
              {.least = 1, .most = 65536});
}

}  // namespace kindred

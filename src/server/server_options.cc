#include "server/server_options.h"

namespace kindred {

void Bind(Config& config, LimitOptions& options) {
  config.Bind("server.max_norm", &options.max_norm,
              "largest distance of an update from the global model; 0: any", {.least = 0});
  config.Bind("server.norm_ratio", &options.norm_ratio,
              "largest distance as a multiple of the median of the round before; 0: any",
              {.least = 0});
  config.Bind("server.max_share", &options.max_share,
              "largest share of a round's weight that one client may have",
              {.least = 1e-6, .most = 1});
}

}  // namespace kindred

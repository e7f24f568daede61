#include "server/server_options.h"

namespace kindred {

void Bind(Config& config, LimitOptions& options) {
  config.Bind("server.max_norm", &options.max_norm,
              "how far an update may be from the global model, as one vector; 0: any",
              {.least = 0});
  config.Bind("server.norm_ratio", &options.norm_ratio,
              "the same, times the median of the round before (a longer round: more); 0: any",
              {.least = 0});
  config.Bind("server.max_share", &options.max_share,
              "the largest share of a round's weights that a client's images may have",
              {.least = 1e-6, .most = 1});
}

}  // namespace kindred

#include "server/server_options.h"

namespace kindred {

// The bounds on distance refuse an update or leave it as it is, and that on claims tells whom an
// operator trusts: they may be changed when a run goes on.
void Bind(Config& config, LimitOptions& options) {
  config.Bind("server.max_norm", &options.max_norm,
              "largest distance of an update from the global model; 0: any",
              {.least = 0, .changes_result = false});
  config.Bind("server.norm_ratio", &options.norm_ratio,
              "largest distance as a multiple of what is usual in the last rounds; 0: any",
              {.least = 0, .changes_result = false});
  config.Bind("server.max_share", &options.max_share,
              "largest share of a round's weight that one client may have",
              {.least = 1e-6, .most = 1});
  config.Bind("server.max_claimed_share", &options.max_claimed_share,
              "serve: the same for a client whose number of images is its own word; higher: trust "
              "the clients, or certify their numbers (pki issue --images)",
              {.least = 1e-6, .most = 1, .changes_result = false});
}

}  // namespace kindred

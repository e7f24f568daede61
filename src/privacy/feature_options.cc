#include "privacy/feature_options.h"

namespace kindred {

void Bind(Config& config, FeatureOptions& options) {
  config.BindForClients("features.encoder", &options.encoder,
                        "what makes the shared features: the client's own model after training "
                        "(local), or the model that it received (global)",
                        {.choices = {"local", "global"}});
  config.BindForClients(
      "features.weight", &options.weight,
      "ccl.negatives = \"union\": total weight of remote negatives; a full own bank weighs 1",
      {.least = 0, .most = 1000});
  config.Bind("features.max_age", &options.max_age,
              "rounds after which a client's shared features are dropped",
              {.least = 1, .most = 1 << 20});
  config.Bind("features.max_remote", &options.max_remote,
              "remote features that a client is sent, or takes, at most; 0: all",
              {.least = 0, .most = 1 << 30});
}

}  // namespace kindred

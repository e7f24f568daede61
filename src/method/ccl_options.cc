#include "method/ccl_options.h"

namespace kindred {

void Bind(Config& config, CclOptions& options) {
  config.BindForClients("ccl.negatives", &options.negatives,
                        "negatives: others' features (remote), the client's own bank (local), or "
                        "both (union)",
                        {.choices = {"remote", "union", "local"}});
  config.BindForClients("ccl.bank", &options.bank,
                        "K: keys in a client's bank, and features that it shares",
                        {.least = 1, .most = 1 << 20});
  config.BindForClients("ccl.neighbors", &options.neighbors,
                        "N: neighbours that a query is matched to", {.least = 1, .most = 1 << 20});
  config.BindForClients("ccl.tau", &options.tau, "temperature of the contrastive loss",
                        {.least = 1e-3, .most = 100});
  config.BindForClients("ccl.tau_nm", &options.tau_nm, "temperature of neighborhood matching",
                        {.least = 1e-3, .most = 100});
  config.BindForClients("ccl.lambda", &options.lambda, "weight of neighborhood matching; 0: none",
                        {.least = 0, .most = 1000});
  config.BindForClients("ccl.warmup", &options.warmup,
                        "share of the rounds over which lambda rises from 0",
                        {.least = 0, .most = 1});
  config.BindRetired("ccl.encoded", "0");
  config.BindForClients("ccl.momentum", &options.momentum,
                        "m: how slowly the momentum model follows", {.least = 0, .most = 1});
  config.BindForClients("ccl.symmetric", &options.symmetric,
                        "use both views of an image as query; a step costs twice as much");
}

}  // namespace kindred

#include "method/ccl_options.h"

namespace kindred {

void Bind(Config& config, CclOptions& options) {
  config.Bind("ccl.negatives", &options.negatives,
              "what is contrasted with: others' features, one's own bank, or both",
              {.choices = {"remote", "union", "local"}});
  config.Bind("ccl.bank", &options.bank, "K: keys in the local bank, and features shared",
              {.least = 1, .most = 1 << 20});
  config.Bind("ccl.neighbors", &options.neighbors, "N: neighbours a query is matched to",
              {.least = 1, .most = 1 << 20});
  config.Bind("ccl.tau", &options.tau, "temperature of the contrastive loss",
              {.least = 1e-3, .most = 100});
  config.Bind("ccl.tau_nm", &options.tau_nm, "temperature of neighborhood matching",
              {.least = 1e-3, .most = 100});
  config.Bind("ccl.lambda", &options.lambda, "weight of neighborhood matching; 0: none",
              {.least = 0, .most = 1000});
  config.Bind("ccl.warmup", &options.warmup, "share of the rounds over which lambda rises from 0",
              {.least = 0, .most = 1});
  config.BindRetired("ccl.encoded", "0");
  config.Bind("ccl.momentum", &options.momentum, "m: how slowly the momentum model follows",
              {.least = 0, .most = 1});
  config.Bind("ccl.symmetric", &options.symmetric,
              "each of an image's two views is a query once; a step costs twice as much");
}

}  // namespace kindred

#include "eval/eval_options.h"

namespace kindred {

void Bind(Config& config, EvalOptions& options) {
  config.Bind("eval.every", &options.every, "rounds between two looks by kNN",
              {.least = 1, .most = 1e6, .changes_result = false});
  config.Bind("eval.k", &options.k, "kNN: neighbours that vote",
              {.least = 1, .most = 1e6, .changes_result = false});
  config.Bind("eval.t", &options.t, "kNN: temperature of the votes",
              {.least = 1e-3, .most = 100, .changes_result = false});
  config.Bind("eval.limit", &options.limit, "most test images, balanced over classes; 0: all",
              {.least = 0, .changes_result = false});
}

}  // namespace kindred

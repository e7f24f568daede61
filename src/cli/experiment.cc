#include "cli/experiment.h"

namespace kindred {

Config BindExperiment(Experiment& experiment) {
  Config config;
  Bind(config, experiment.data);
  Bind(config, experiment.partition);
  Bind(config, experiment.views);
  config.Bind("train.seed", &experiment.train.seed, "all randomness but the partition's");
  return config;
}

}  // namespace kindred

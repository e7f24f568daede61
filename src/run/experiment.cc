#include "run/experiment.h"

#include "base/digest.h"
#include "method/method_kinds.h"

namespace kindred {

Config BindExperiment(Experiment& experiment) {
  Config config;
  Bind(config, experiment.data);
  Bind(config, experiment.partition);
  Bind(config, experiment.views);
  Bind(config, experiment.model);
  Bind(config, experiment.method);
  Bind(config, experiment.privacy);
  Bind(config, experiment.features);
  Bind(config, experiment.train);
  BindEngine(config, experiment.model);
  Bind(config, experiment.eval);
  // The keys of a section are bound one after the other: [server] is of five structs.
  Bind(config, experiment.rule);
  Bind(config, experiment.optimizer);
  Bind(config, experiment.limits);
  Bind(config, experiment.coordinator);
  Bind(config, experiment.wire);
  Bind(config, experiment.join);
  return config;
}

std::vector<std::string> ResultKeys(const Config& config, const Experiment& experiment) {
  return config.ResultKeys(TablesOfOthers(experiment.method.name));
}

RunDir::ConfigTexts TextsOf(const Config& config) {
  return {config.ToToml(), config.ToJsonWithoutPaths()};
}

std::string ConfigHash(const Config& config, const Experiment& experiment) {
  Digest digest;
  for (const auto& key : ResultKeys(config, experiment)) digest.Add(std::string_view(key));
  return digest.Hex();
}

}  // namespace kindred

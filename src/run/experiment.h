// The whole experiment: every option struct, bound to one configuration.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "aggregate/rule_options.h"
#include "augment/views.h"
#include "base/config.h"
#include "data/dataset.h"
#include "eval/eval_options.h"
#include "federation/coordinator_options.h"
#include "method/method_options.h"
#include "model/model_options.h"
#include "partition/partition.h"
#include "privacy/feature_options.h"
#include "privacy/privacy_options.h"
#include "record/run_dir.h"
#include "run/join_options.h"
#include "server/optimizer_kinds.h"
#include "server/server_options.h"
#include "server/train_options.h"

namespace kindred {

struct Experiment {
  DataOptions data;
  PartitionOptions partition;
  ViewOptions views;
  ModelOptions model;
  MethodOptions method;
  PrivacyOptions privacy;
  FeatureOptions features;
  TrainOptions train;
  RuleOptions rule;
  OptimizerOptions optimizer;
  LimitOptions limits;
  EvalOptions eval;
  CoordinatorOptions coordinator;
  WireLimits wire;
  JoinOptions join;
};

// A configuration bound to the fields of `experiment`, which must outlive it.
Config BindExperiment(Experiment& experiment);

// An experiment and the configuration bound to it.
struct Resolved {
  std::unique_ptr<Experiment> experiment = std::make_unique<Experiment>();
  Config config;
};

// What must be equal for runs to give the same model: "key = value" of each key that the run's
// method reads and that changes results.
std::vector<std::string> ResultKeys(const Config& config, const Experiment& experiment);

// What a run's folder keeps of its configuration.
RunDir::ConfigTexts TextsOf(const Config& config);

// Equal for configurations that must give the same model.
std::string ConfigHash(const Config& config, const Experiment& experiment);

}  // namespace kindred

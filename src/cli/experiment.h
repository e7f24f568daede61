// The whole experiment: every option struct, bound to one configuration.
#pragma once

#include <cstdint>

#include "augment/views.h"
#include "base/config.h"
#include "data/dataset.h"
#include "partition/partition.h"

namespace kindred {

// [train]
struct TrainOptions {
  uint64_t seed = 0;
};

struct Experiment {
  DataOptions data;
  PartitionOptions partition;
  ViewOptions views;
  TrainOptions train;
};

// A configuration bound to the fields of `experiment`, which must outlive it.
Config BindExperiment(Experiment& experiment);

}  // namespace kindred

// Collaborative finetuning (paper, Sect. 6.4): the encoder as the start of supervised federated
// averaging with a few labels on each client.
#pragma once

#include <functional>

#include "eval/semi_supervised.h"
#include "partition/partition.h"
#include "run/experiment.h"

namespace kindred {

// What it gave, and what it cost.
struct Finetuned {
  TrainedClassifier classifier;
  Partition labeled;  // the images whose labels each client used
  uint64_t bytes_down = 0, bytes_up = 0;
};

// Each client keeps a share experiment.eval.labels of each of its classes, drawn by `seed`, and
// trains on those alone, by the federation that `kindred train` runs. eval.scratch: from random
// weights. Throws a usage error when a class or a client would be left without labels. on_images is
// never called twice at a time.
Finetuned FinetuneTogether(const Encoder& encoder, const Dataset& dataset,
                           const Experiment& experiment, uint64_t seed,
                           const std::function<void(int images)>& on_images = {});

// Images that its training goes through: for a progress bar.
uint64_t FinetuneImages(const Dataset& dataset, const Experiment& experiment);

}  // namespace kindred

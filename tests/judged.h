// An encoder, data and options to evaluate it with, small enough for every metric.
#pragma once

#include "model/network.h"
#include "model/resnet.h"
#include "run/evaluation.h"
#include "tests/folders.h"

namespace kindred {

struct Judged {
  Experiment experiment;
  Dataset dataset;
  Encoder encoder;
  TemporaryFolder cache = TestFolder();

  Judged() {
    experiment.data.name = "shapes";
    experiment.data.limit = 300;
    experiment.data.size = 12;
    experiment.partition.scheme = "iid";
    experiment.partition.clients = 3;
    experiment.eval.k = 10;
    experiment.eval.epochs = 2;
    experiment.eval.rounds = 2;
    experiment.eval.local_epochs = 1;
    experiment.eval.labels = 0.2;
    experiment.train.batch = 16;
    dataset = LoadDataset(experiment.data);
    const ModelOptions options = {.arch = "resnet10", .width = 4, .bn_splits = 1};
    ResNet model(options, 3);
    Initialize(*model, 1);
    encoder = {Clone(OwnTensorsOf(*model)), options, InputOf(dataset)};
  }
  Evaluation Run(const MetricKind& metric, const Dataset& on, uint64_t seed = 0) const {
    return metric.run({encoder, on, experiment, cache.path()}, seed, [](int) {});
  }
};

}  // namespace kindred

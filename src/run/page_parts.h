// What a run leaves for its page beside its metrics: who owns what, sample images, the features
// from the side. Files of the run's folder, page/*.json; they hold what only the data's owner has.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "base/json.h"
#include "federation/members.h"
#include "partition/partition.h"
#include "record/run_dir.h"
#include "run/experiment.h"

namespace kindred {

// Clients with their images, by class where there are labels.
Json ClientsPart(const Partition& partition, const Dataset& dataset);

// Clients of a federation over a network, as the coordinator knows them.
Json ClientsPart(const Members& members);

// A few images with two views each, and encodings of images of the first client, as PNG.
Json SamplesPart(const Experiment& experiment, const Dataset& dataset, const Partition& partition);

// Features of up to a thousand training images, from the sides that show most of them. `features`
// has a row for each training image; without a partition nobody's.
Json EmbeddingPart(int round, const at::Tensor& features, const Dataset& dataset,
                   const Partition* partition);

// Makes the part and writes page/NAME.json, with the "seconds" that making it took; a failure of
// either is a warning, the run goes on.
void WritePagePart(const RunDir& dir, const std::string& name, const std::function<Json()>& make);

}  // namespace kindred

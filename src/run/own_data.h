// The images that a client of a federation takes part with.
#pragma once

#include "client/round.h"
#include "data/dataset.h"
#include "model/encoder.h"
#include "run/experiment.h"

namespace kindred {

// Which images of the dataset are this client's: all of them, or its part of the configured
// partition when client.share says "i/C". Throws a usage error when that is not a share of the
// partition.
struct OwnShare {
  std::vector<int> images;
  int place = -1;  // in the partition; -1: there is none
};
OwnShare ShareOf(const Dataset& dataset, const Experiment& experiment);

// Those images, for an encoder of `input`, with labels where asked for. Throws a data error when
// they do not fit.
ClientData OwnData(const Experiment& experiment, const EncoderInput& input, bool labels);

}  // namespace kindred

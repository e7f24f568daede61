// The encoder that --run names, and the configuration it is looked at with.
#pragma once

#include <string>

#include "command/flags.h"
#include "run/experiment.h"
#include "run/trained_encoder.h"

namespace kindred {

// The encoder at `path`.
TrainedEncoder OpenEncoder(const EncoderFlags& flags, const std::string& path);

// The configuration to look at it with: --config, else the run's own. An exported encoder brings
// the names of its dataset and partition; a folder of images is scaled to what the encoder takes.
Resolved ResolveFor(ConfigFlags config, const TrainedEncoder& trained);

}  // namespace kindred

// What a coordinator tells its clients of its configuration, and what a client takes of it.
#pragma once

#include <string>
#include <vector>

#include "model/encoder.h"
#include "run/experiment.h"

namespace kindred {

// Applies what a coordinator has sent. Throws a network error when it is a key that a coordinator
// may not set, or beyond what [client] allows.
void ApplySettings(const std::vector<std::string>& settings, const Experiment& experiment,
                   Config& config);

// What a coordinator's images are like, by its greeting. Throws a network error when it cannot be
// read or is beyond what [client] allows.
EncoderInput OfferedInput(const std::string& text, const Experiment& experiment);

}  // namespace kindred

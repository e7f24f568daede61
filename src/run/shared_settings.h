// What a coordinator tells its clients of its configuration, and what a client takes of it.
#pragma once

#include <string>
#include <vector>

#include "run/experiment.h"

namespace kindred {

// Settings that a coordinator sends to its clients, of all that a configuration holds.
std::vector<std::string> SharedSettings(const Config& config);

// Applies what a coordinator has sent. Throws a network error when it is none of its business, or
// beyond what [client] allows.
void ApplySettings(const std::vector<std::string>& settings, const Experiment& experiment,
                   Config& config);

}  // namespace kindred

// Whether the parts of an experiment fit each other.
#pragma once

#include <optional>
#include <string>

#include "method/method.h"
#include "partition/partition.h"
#include "run/experiment.h"

namespace kindred {

// What to warn of when clients have too few images to learn anything by the method.
std::optional<std::string> TooFewImagesWarning(const Method& method, const Partition& partition);

// Throws a usage error unless a coordinator of so many enrolled clients can keep its rule and hold
// what its configuration may bring.
void CheckCoordinator(const Experiment& experiment, const Method& method, int enrolled);

}  // namespace kindred

// Whether a method fits the options of its model and the images of its clients.
#pragma once

#include <optional>
#include <string>

#include "method/method.h"
#include "partition/partition.h"

namespace kindred {

// Throws a usage error when the batches of a method that norms its features would be split.
void CheckSplits(const Method& method, const MethodContext& context);

// What to warn of when clients have too few images to learn anything by the method.
std::optional<std::string> WhyTooFewImages(const Method& method, const Partition& partition);

}  // namespace kindred

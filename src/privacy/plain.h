// privacy.features = "plain": features of images as they are, for ablations in a simulation.
#pragma once

#include "privacy/mechanism.h"

namespace kindred {

// [count, D] unit rows, of the first image of each mix of "encoded".
at::Tensor PlainImageFeatures(const FeatureRequest& request, const FeatureFunction& features);

}  // namespace kindred

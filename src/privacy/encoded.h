// privacy.features = "encoded": features of InstaHide encodings of unaugmented images (paper,
// Sect. 3.2).
#pragma once

#include "privacy/mechanism.h"

namespace kindred {

// [count, D] unit rows.
at::Tensor EncodedFeatures(const FeatureRequest& request, const FeatureFunction& features);

}  // namespace kindred

// How features are made that others may see: one maker per mechanism of the table
// (mechanism_kinds.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "privacy/mechanism_kinds.h"
#include "privacy/shared_features.h"

namespace kindred {

// Whose images, how many features, and what keeps them from being read back.
struct FeatureRequest {
  const Images& images;
  const Normalization& normalization;
  const PrivacyOptions& options;
  const Secret& secret;
  uint32_t round = 0;
  int count = 0;   // at most as many as there are images
  int batch = 64;  // images that go through the model at a time, the last ones up to twice as many
};

// What a client shares: one of the two has rows.
struct MadeFeatures {
  ProtectedFeatures travelling;
  PlainFeatures kept;  // of a mechanism that does not travel

  const at::Tensor& rows() const {
    return travelling.rows().defined() ? travelling.rows() : kept.rows();
  }
};

// Makes them by the mechanism that request.options name. Throws a usage error when there are fewer
// images than it needs.
MadeFeatures ShareFeatures(const FeatureRequest& request, const FeatureFunction& features);

// For makers: features of `count` inputs that `fill(first, out)` writes, one batch at a time. No
// batch is short unless it is the only one: with batch statistics its features would live apart.
at::Tensor FeaturesInBatches(const FeatureRequest& request, int64_t count,
                             const std::function<void(int64_t first, at::Tensor& out)>& fill,
                             const FeatureFunction& features);

}  // namespace kindred

// Features that others get to see: what may leave a client, and what arrives at one.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "privacy/instahide.h"
#include "privacy/privacy_options.h"

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

// The model's unit features [n, D] of n normalised images [n, C, H, W].
using FeatureFunction = std::function<at::Tensor(const at::Tensor& images)>;

// Features of InstaHide encodings: [n, D] unit rows. Only Protect can make one with rows in it, and
// an update can carry no other: features of plain images cannot leave a client.
class ProtectedFeatures {
 public:
  ProtectedFeatures() = default;  // none
  const at::Tensor& rows() const { return rows_; }

 private:
  friend ProtectedFeatures Protect(const FeatureRequest& request, const FeatureFunction& features);
  at::Tensor rows_;
};

// Mixes the client's unaugmented images and takes the model's features of the encodings. Throws a
// usage error when there are fewer images than a mix takes.
ProtectedFeatures Protect(const FeatureRequest& request, const FeatureFunction& features);

// Features of plain images, for ablations in simulation. No serializer takes one.
class PlainFeatures {
 public:
  PlainFeatures() = default;  // none
  const at::Tensor& rows() const { return rows_; }

 private:
  friend PlainFeatures LeavePlain(const FeatureRequest& request, const FeatureFunction& features);
  at::Tensor rows_;
};

// The same images as the first ones of Protect's mixes, as they are.
PlainFeatures LeavePlain(const FeatureRequest& request, const FeatureFunction& features);

// Where a row of the pool came from: the simulation's observer finds its images by it. It does not
// travel.
struct RowOrigin {
  int client = 0;
  int round = 0;  // in which it was made
  int row = 0;
};

// Q_s: what a client receives of the others' features, [M, D] unit rows, M >= 0.
struct RemoteBank {
  at::Tensor rows;  // undefined: none
  std::vector<RowOrigin> origins;

  int64_t Size() const { return rows.defined() ? rows.size(0) : 0; }
};

// Why rows from outside cannot be features of that width, at most so many: not a matrix of floats,
// another width, too many, not finite, not of length 1. Nothing when they can.
std::optional<std::string> WhyNotFeatures(const at::Tensor& rows, int64_t width, int64_t most);

}  // namespace kindred

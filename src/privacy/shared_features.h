// Features that others get to see: what may leave a client, and what arrives at one.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kindred {

struct FeatureRequest;
struct MadeFeatures;
// The model's unit features [n, D] of n normalised images [n, C, H, W].
using FeatureFunction = std::function<at::Tensor(const at::Tensor& images)>;
MadeFeatures ShareFeatures(const FeatureRequest& request, const FeatureFunction& features);

// Features that may leave a client: [n, D] rows. ShareFeatures (mechanism.h) alone can make one
// with rows in it, of a mechanism whose line in the table says that it travels, and an update can
// carry no other: features of plain images cannot leave a client.
class ProtectedFeatures {
 public:
  ProtectedFeatures() = default;  // none
  const at::Tensor& rows() const { return rows_; }

 private:
  friend MadeFeatures ShareFeatures(const FeatureRequest& request, const FeatureFunction& features);
  at::Tensor rows_;
};

// Features of a mechanism that does not travel, for a simulation. No serializer takes one.
class PlainFeatures {
 public:
  PlainFeatures() = default;  // none
  const at::Tensor& rows() const { return rows_; }

 private:
  friend MadeFeatures ShareFeatures(const FeatureRequest& request, const FeatureFunction& features);
  at::Tensor rows_;
};

// Where a row of the pool came from: the simulation's observer finds its images by it. It does not
// travel.
struct RowOrigin {
  int client = 0;
  int round = 0;  // in which it was made
  int row = 0;
};

// Q_s: what a client receives of the others' features, [M, D] unit rows, M >= 0.
struct RemoteFeatures {
  at::Tensor rows;  // undefined: none
  std::vector<RowOrigin> origins;

  int64_t Size() const { return rows.defined() ? rows.size(0) : 0; }
};

// Why rows from outside cannot be features of that width, at most so many: not a matrix of floats,
// another width, too many, not finite, and with `unit_rows` not of length 1.
// nullopt when they can.
std::optional<std::string> CheckFeatures(const at::Tensor& rows, int64_t width, int64_t most,
                                         bool unit_rows = true);

}  // namespace kindred

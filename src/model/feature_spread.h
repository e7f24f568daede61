// How far features are spread over the sphere: a collapse shows here first.
#pragma once

#include <ATen/core/Tensor.h>

namespace kindred {

struct FeatureSpread {
  double cosine = 0;  // mean over pairs; 1: all equal, about 0: spread evenly
  double std = 0;   // deviation of a coordinate times sqrt(D), mean over coordinates; 0: all equal
  double rank = 0;  // effective rank: exp of the entropy of the second moment's eigenvalues; 1 to D
};

// rows: [N, D] unit rows. Fewer than two rows: all zero.
FeatureSpread SpreadOf(const at::Tensor& rows);

}  // namespace kindred

// How far two models are from each other.
#pragma once

#include <cstddef>

#include "model/named_tensors.h"

namespace kindred {

// What one pass over a tensor's values tells.
struct ValuesSeen {
  double squared = 0;    // sum of (a - b)^2
  bool in_range = true;  // every |a| is below 2^20: no NaN, no infinity
};

// a, b: `size` floats each; b may be null, for zeros. Sums in lanes of fixed membership: the same
// bits on every machine.
ValuesSeen CompareValues(const float* a, const float* b, size_t size);

// Sum of squared differences over all float tensors, statistics included. Both have the same
// tensors.
double SquaredDistance(const NamedTensors& a, const NamedTensors& b);

// The length of all float tensors as one vector.
double NormOf(const NamedTensors& tensors);

}  // namespace kindred

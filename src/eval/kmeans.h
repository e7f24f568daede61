// Clusters of features, where nobody has labels.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace kindred {

// Spherical k-means of unit rows: the cluster of each, 0, ..., clusters - 1. A function of its
// arguments. clusters at most as many as rows.
std::vector<int> KMeansClusters(const at::Tensor& rows, int clusters, uint64_t seed);

}  // namespace kindred

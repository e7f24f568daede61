// Clusters of directions.
#pragma once

#include <ATen/core/Tensor.h>

namespace kindred {

struct SphericalClusters {
  at::Tensor centroids;  // [K, D] unit rows
  at::Tensor nearest;    // [N] int64: each row's centroid, the lower one of two as near
  int empty = 0;         // centroids that are nearest to no row
};

// k-means by cosine: each row goes to the nearest centroid, each centroid becomes the direction of
// its rows' mean, `iterations` times; then rows go to the nearest once more. A centroid without
// rows stays where it is. rows: [N, D] unit rows; start: [K, D] unit rows. A function of its
// arguments.
SphericalClusters SphericalKMeans(const at::Tensor& rows, const at::Tensor& start, int iterations);

}  // namespace kindred

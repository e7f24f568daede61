#include "loss/spherical_kmeans.h"

#include <torch/torch.h>

namespace kindred {

SphericalClusters SphericalKMeans(const at::Tensor& rows, const at::Tensor& start, int iterations) {
  torch::NoGradGuard no_gradient;
  const int64_t clusters = start.size(0);
  SphericalClusters result = {.centroids = start.detach().clone()};
  for (int i = 0;; ++i) {
    result.nearest = torch::mm(rows, result.centroids.t()).argmax(1);
    if (i == iterations) break;
    auto sums = torch::zeros_like(result.centroids);
    sums.index_add_(0, result.nearest, rows);
    const auto length = sums.norm(2, 1, true);  // 0: no rows, or rows that cancel
    result.centroids = torch::where(length > 1e-6, sums / length, result.centroids);
  }
  const auto counts = torch::bincount(result.nearest, {}, clusters);
  result.empty = static_cast<int>((counts == 0).sum().item<int64_t>());
  return result;
}

}  // namespace kindred

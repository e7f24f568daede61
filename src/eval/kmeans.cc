#include "eval/kmeans.h"

#include <faiss/Clustering.h>
#include <faiss/IndexFlat.h>

#include "base/error.h"
#include "model/one_thread.h"

namespace kindred {

std::vector<int> KMeansClusters(const at::Tensor& rows, int clusters, uint64_t seed) {
  Check(clusters >= 1 && clusters <= rows.size(0), "more clusters than rows");
  UseOneThread();
  const auto points = rows.contiguous();
  faiss::ClusteringParameters parameters;
  parameters.spherical = true;
  parameters.niter = 25;
  parameters.nredo = 5;  // the best of five starts
  parameters.seed = static_cast<int>(seed & 0x7fffffff);
  parameters.min_points_per_centroid = 1;  // no warning on stderr for few images
  faiss::Clustering clustering(static_cast<int>(points.size(1)), clusters, parameters);
  faiss::IndexFlatIP centroids(points.size(1));
  clustering.train(points.size(0), points.data_ptr<float>(), centroids);
  std::vector<float> cosine(static_cast<size_t>(points.size(0)));
  std::vector<faiss::Index::idx_t> nearest(cosine.size());
  centroids.search(points.size(0), points.data_ptr<float>(), 1, cosine.data(), nearest.data());
  return {nearest.begin(), nearest.end()};
}

}  // namespace kindred

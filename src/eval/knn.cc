#include "eval/knn.h"

#include <faiss/IndexFlat.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/parallel.h"
#include "model/one_thread.h"

namespace kindred {

std::vector<int> KnnPredict(const at::Tensor& train, std::span<const int> train_labels,
                            const at::Tensor& test, int classes, const KnnOptions& options) {
  Check(train.size(0) == static_cast<int64_t>(train_labels.size()) && train.size(0) > 0,
        "features and labels differ in number");
  constexpr int64_t kRows = 500;  // fixed, so that workers do not change a bit
  const int64_t k = std::min<int64_t>(options.k, train.size(0));
  const auto known = train.contiguous(), queries = test.contiguous();
  faiss::IndexFlatIP index(known.size(1));
  index.add(known.size(0), known.data_ptr<float>());
  std::vector<int> predictions(static_cast<size_t>(queries.size(0)));
  const int chunks = static_cast<int>((queries.size(0) + kRows - 1) / kRows);
  ParallelFor(std::clamp(chunks, 1, options.workers), chunks, [&](int, int chunk) {
    UseOneThread();
    const int64_t first = chunk * kRows, count = std::min(kRows, queries.size(0) - first);
    std::vector<float> cosine(static_cast<size_t>(count * k));
    std::vector<faiss::Index::idx_t> nearest(cosine.size());
    index.search(count, queries.data_ptr<float>() + first * queries.size(1), k, cosine.data(),
                 nearest.data());
    for (int64_t i = 0; i < count; ++i) {
      std::vector<double> votes(static_cast<size_t>(classes), 0.0);
      for (int64_t j = i * k; j < (i + 1) * k; ++j) {
        const auto at = static_cast<size_t>(j), best = static_cast<size_t>(i * k);
        Check(nearest[at] >= 0, "a feature that is not finite");
        const int label = train_labels[static_cast<size_t>(nearest[at])];
        votes[static_cast<size_t>(label)] +=
            std::exp((static_cast<double>(cosine[at]) - cosine[best]) / options.t);
      }
      predictions[static_cast<size_t>(first + i)] =
          static_cast<int>(std::max_element(votes.begin(), votes.end()) - votes.begin());
    }
  });
  return predictions;
}

}  // namespace kindred

#include "eval/knn.h"

#include <torch/torch.h>

#include <algorithm>

#include "base/error.h"

namespace kindred {

double KnnAccuracy(const at::Tensor& train, std::span<const int> train_labels,
                   const at::Tensor& test, std::span<const int> test_labels, int classes,
                   const KnnOptions& options) {
  Check(train.size(0) == static_cast<int64_t>(train_labels.size()) &&
            test.size(0) == static_cast<int64_t>(test_labels.size()) && test.size(0) > 0,
        "features and labels differ in number");
  constexpr int64_t kRows = 500;
  const int64_t k = std::min<int64_t>(options.k, train.size(0));
  const auto labels = torch::tensor(std::vector<int64_t>(train_labels.begin(), train_labels.end()));
  int64_t right = 0;
  for (int64_t first = 0; first < test.size(0); first += kRows) {
    const int64_t count = std::min(kRows, test.size(0) - first);
    const auto cosine = torch::mm(test.narrow(0, first, count), train.t());  // [count, N]
    const auto [nearest, index] = cosine.topk(k, 1);
    const auto votes = torch::zeros({count, classes}, torch::kDouble);
    votes.scatter_add_(1, labels.index_select(0, index.flatten()).view({count, k}),
                       ((nearest - nearest.narrow(1, 0, 1)).to(torch::kDouble) / options.t).exp());
    const auto winner = votes.argmax(1);
    for (int64_t i = 0; i < count; ++i) {
      right += winner[i].item<int64_t>() == test_labels[static_cast<size_t>(first + i)] ? 1 : 0;
    }
  }
  return static_cast<double>(right) / static_cast<double>(test.size(0));
}

}  // namespace kindred

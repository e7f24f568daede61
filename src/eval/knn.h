// kNN: how well neighbours in feature space share a class.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

namespace kindred {

struct KnnOptions {
  int k = 200;     // neighbours; at most as many as there are
  double t = 0.1;  // a neighbour's vote weighs exp(cosine / t)
  int workers = 1;
};

// The class that the k nearest training rows, by cosine, vote for, of each test row. Rows of both
// are unit vectors. Ties between classes go to the lower one.
std::vector<int> KnnPredict(const at::Tensor& train, std::span<const int> train_labels,
                            const at::Tensor& test, int classes, const KnnOptions& options = {});

}  // namespace kindred

// The kNN monitor: how well neighbours in feature space share a class.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>

namespace kindred {

struct KnnOptions {
  int k = 200;     // neighbours; at most as many as there are
  double t = 0.1;  // a neighbour's vote weighs exp(cosine / t)
};

// Share of test rows whose k nearest training rows, by cosine, vote for their label; 0 to 1. Rows
// of both are unit vectors. Ties between classes go to the lower one.
double KnnAccuracy(const at::Tensor& train, std::span<const int> train_labels,
                   const at::Tensor& test, std::span<const int> test_labels, int classes,
                   const KnnOptions& options = {});

}  // namespace kindred

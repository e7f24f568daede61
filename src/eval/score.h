// How right predictions are: overall, by class, and what is taken for what.
#pragma once

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

namespace kindred {

struct Score {
  double accuracy = 0;                      // 0 to 1
  std::vector<double> per_class;            // of the images of each class; NaN: it has none
  std::vector<std::vector<int>> confusion;  // [label][prediction]: images
};

// One prediction and one label per image; both in 0, ..., classes - 1, at least one image.
Score ScoreOf(std::span<const int> predictions, std::span<const int> labels, int classes);

// The column with the largest value of each row; of equal ones the first.
std::vector<int> Argmax(const at::Tensor& scores);

struct MeanDeviation {
  double mean = 0;
  double deviation = 0;  // of a sample (n - 1); 0 for one value
};

MeanDeviation MeanAndDeviation(std::span<const double> values);

}  // namespace kindred

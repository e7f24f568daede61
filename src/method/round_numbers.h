// What a method tells about a round: means over its steps, and how far its features are spread.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <vector>

#include "method/method.h"

namespace kindred {

// Adds feature_cosine, feature_std and feature_rank of unit rows [N, D].
void AddSpread(Metrics& metrics, const at::Tensor& rows);

class RoundNumbers {
 public:
  // Forgets the round before.
  void Begin() { *this = RoundNumbers(); }

  // Adds a step's number to the round's mean.
  void Count(const std::string& name, double value);

  // Unit features [B, D] of a step. Those of the round's last steps, some hundreds, are kept.
  void Saw(const at::Tensor& features);

  // The means, and the spread of the features where any were seen; then forgets the round.
  Metrics End();

 private:
  struct Sum {
    double total = 0;
    int steps = 0;
  };
  std::map<std::string, Sum> sums_;
  std::vector<at::Tensor> seen_;
  int64_t rows_ = 0;  // in `seen_`
};

}  // namespace kindred

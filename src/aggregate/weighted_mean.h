// The average of models, weighted by images (paper, Sect. 2 and 3).
//
//   theta <- sum_c |D_c| theta_c / sum_c |D_c|
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "aggregate/wide_sums.h"
#include "base/file.h"
#include "model/named_tensors.h"

namespace kindred {

// A running sum that is exact (wide_sums.h): neither the order of the models nor a grouping of them
// over machines changes a bit. Floats are divided once, at the end; integer tensors (counters) give
// their maximum. Values below 2^-57 lose their last bits, those of 2^20 and above are refused. Not
// to be shared between threads.
class WeightedMean {
 public:
  static constexpr int64_t kMostWeight = int64_t{1} << 26;  // the weights sum to less

  // weight: |D_c|, 1 to 2^26 - 1 as long as the weights sum to less than that. Throws a usage
  // error, adding nothing, when a value is not finite or too large (training has diverged).
  void Add(const NamedTensors& model, int64_t weight);

  // What was added, for a mean in another process of this program,
  Bytes Part() const;
  // which goes on as if those models had been added to it.
  void Merge(const Bytes& part);

  int64_t Weight() const { return weight_; }

  // The mean of what was added, which must be something.
  NamedTensors Finish() const;

 private:
  struct Sum {
    std::vector<int64_t> shape;
    bool counter = false;
    WideSums floats;            // none for counters
    std::vector<int64_t> most;  // of counters
  };
  void Begin(const NamedTensors& like);

  std::map<std::string, Sum> sums_;
  int64_t weight_ = 0;
};

}  // namespace kindred

// Krum (Blanchard et al., "Machine Learning with Adversaries", NeurIPS 2017).
//
//   s(c) = sum of |theta_c - theta_j|^2 over the n - f - 2 clients j nearest to c
//   theta <- theta_c with the smallest s(c)
#pragma once

#include "aggregate/kept_models.h"

namespace kindred {

// f: how many of the n clients may be hostile. Distances are over all floats, statistics included;
// of equal scores the lower client's counts. Does not weigh by images. The configuration is refused
// where a round cannot have 2 f + 3 clients (CheckRule). When fewer of them report, the theorem
// says nothing: the coordinate-wise median is taken and a warning says so. Never the mean, which
// one hostile client could then reach by keeping others from reporting.
class Krum : public KeptModels {
 public:
  explicit Krum(int byzantine) : byzantine_(byzantine) {}
  NamedTensors Finish() override;

 private:
  int byzantine_;
};

}  // namespace kindred

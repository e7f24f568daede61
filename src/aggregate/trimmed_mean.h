// The coordinate-wise trimmed mean (Yin et al., ICML 2018).
//
//   theta_i <- mean of theta_{c,i} over the clients, without the b largest and the b smallest
#pragma once

#include "aggregate/kept_models.h"

namespace kindred {

// How many of `clients` values are left out at each end: the share, rounded up so that a share
// above 0 always leaves out one, and at least one value remains.
size_t TrimmedAtEachEnd(double share, size_t clients);

// While no more clients than that are hostile every value lies between two honest ones. Does not
// weigh by images.
class TrimmedMean : public KeptModels {
 public:
  explicit TrimmedMean(double share) : share_(share) {}
  NamedTensors Finish() override;

 private:
  double share_;
};

}  // namespace kindred

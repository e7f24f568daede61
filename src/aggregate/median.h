// The coordinate-wise median (Yin et al., "Byzantine-Robust Distributed Learning", ICML 2018).
//
//   theta_i <- median_c theta_{c,i}
#pragma once

#include "aggregate/kept_models.h"

namespace kindred {

// Of an even number of clients the mean of the two in the middle. While less than half of them are
// hostile every value lies between two honest ones. Does not weigh by images.
class Median : public KeptModels {
 public:
  NamedTensors Finish() override;
};

NamedTensors MedianOf(const ModelsByClient& models);

}  // namespace kindred

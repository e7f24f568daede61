// Predicting the code of one view from the other.
#pragma once

#include <ATen/core/Tensor.h>

namespace kindred {

// Swapped prediction (Caron et al. 2020), the mean of both directions where they write the sum:
// with p the softmax of scores / tau,
//
//   l = -1/2 ( sum_k q2_k log p1_k + sum_k q1_k log p2_k ),  mean over the batch.
//
// scores1, scores2: [B, P], each view's cosines to the prototypes. codes1, codes2: [B, P], rows
// that sum to 1. Gradient flows to the scores alone. A scalar; ln P when the scores say nothing.
at::Tensor SwappedPrediction(const at::Tensor& scores1, const at::Tensor& scores2,
                             const at::Tensor& codes1, const at::Tensor& codes2, double tau);

}  // namespace kindred

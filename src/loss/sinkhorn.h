// Codes: a soft assignment of a batch to prototypes that uses all of them alike.
#pragma once

#include <ATen/core/Tensor.h>

namespace kindred {

// The algorithm of Sinkhorn and Knopp (Caron et al. 2020, Sect. 3.1): from Q = exp(scores /
// epsilon) the prototypes' sums are made equal, then the samples', `iterations` times.
//
// scores: [B, P] -> codes: [B, P]; each row sums to 1, each column to about B / P. Without
// gradient. In logs, every sum relative to its largest term: no score overflows, no row vanishes.
at::Tensor Sinkhorn(const at::Tensor& scores, double epsilon, int iterations);

}  // namespace kindred

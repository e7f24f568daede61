// The contrastive loss.
#pragma once

#include <ATen/core/Tensor.h>

namespace kindred {

// Contrastive loss with given negatives (paper, Eq. 1; with remote negatives Eq. 3; Eq. 6 the
// mean).
//
//   l = -log( exp(q.k/tau) / (exp(q.k/tau) + sum_n exp(q.n/tau)) ),  mean over the batch
//
// q, k: [B, D] unit rows, row i of each a view of image i. negatives: [M, D] unit rows, M >= 0. tau
// > 0. Gradient flows to q alone. A scalar.
at::Tensor Contrastive(const at::Tensor& q, const at::Tensor& k, const at::Tensor& negatives,
                       double tau);

}  // namespace kindred

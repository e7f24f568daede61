// The contrastive loss.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace kindred {

// Contrastive loss with given negatives (paper, Eq. 1; with remote negatives Eq. 3; Eq. 6 the
// mean).
//
//   l = -log( exp(q.k/tau) / (exp(q.k/tau) + sum_n exp(q.n/tau)) ),  mean over the batch
//
// q, k: [B, D] unit rows, row i of each a view of image i. negatives: banks of unit rows, each
// [M, D] with M >= 0; their union is contrasted with. tau > 0. Gradient flows to q alone. A scalar.
//
// The banks are gone through in tiles, so memory grows with B x tile, not with B x sum of M.
at::Tensor Contrastive(const at::Tensor& q, const at::Tensor& k,
                       const std::vector<at::Tensor>& negatives, double tau);

}  // namespace kindred

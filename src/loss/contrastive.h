// The contrastive loss.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace kindred {

// A bank of negatives.
struct Negatives {
  at::Tensor rows;          // [M, D] unit rows, M >= 0
  at::Tensor samples = {};  // [M] int64: whose key each row is; undefined: of no query's image
  double weight = 1;        // what each row counts, >= 0
};

// Contrastive loss with given negatives (paper, Eq. 1; with remote negatives Eq. 3; Eq. 6 the
// mean).
//
//   l = -log( exp(q.k/tau) / (exp(q.k/tau) + sum_n w_n exp(q.n/tau)) ),  mean over the batch
//
// q, k: [B, D] unit rows, row i of each a view of image i. The sum goes over the rows of all banks
// but those of the query's own image; w_n is the weight of the row's bank, 1 in the paper. samples:
// [B] int64, whose views q and k are; may be undefined when no bank has samples. tau > 0. Gradient
// flows to q alone. A scalar.
//
// The banks are gone through in tiles, so memory grows with B x tile, not with B x sum of M.
at::Tensor Contrastive(const at::Tensor& q, const at::Tensor& k,
                       const std::vector<Negatives>& negatives, double tau,
                       const at::Tensor& samples = {});

}  // namespace kindred

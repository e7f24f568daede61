// Neighborhood matching: each query is made sure of each of its nearest neighbours.
#pragma once

#include <ATen/core/Tensor.h>

namespace kindred {

struct Matched {
  at::Tensor loss;       // a scalar; gradient flows to q alone
  at::Tensor neighbors;  // [B, N] int64: P(q) as rows of the candidates, nearest first
};

// Neighborhood matching (paper, Eq. 8-11).
//
//   S_im = q_i . n_m                                       cosine similarity
//   P    = the N candidates with the largest S_i,  R = candidates \ P
//   p_j  = softmax over {j} and R of S / tau               for each j in P
//   L    = mean over i, j of H(p_j),  H(p) = -sum_a p_a log p_a
//
// q: [B, D] unit rows. candidates (Q', Eq. 7): [M, D] unit rows. The N nearest; with M <= N all of
// them, and then no R: the loss is 0. Of equal similarities the lower row is nearer. tau > 0.
//
// Costs O(M + N) a query beyond the similarities.
Matched Neighborhood(const at::Tensor& q, const at::Tensor& candidates, int64_t n, double tau);

}  // namespace kindred

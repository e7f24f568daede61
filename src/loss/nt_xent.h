// The contrastive loss inside a batch.
#pragma once

#include <ATen/core/Tensor.h>

namespace kindred {

// NT-Xent (Chen et al. 2020, Eq. 1): each view is to be told from all others of the batch by its
// partner. With z_j the partner of z_i,
//
//   l_i = -log( exp(z_i.z_j/tau) / (sum_{k != i} exp(z_i.z_k/tau) + sum_n exp(z_i.n/tau)) ),
//
// mean over the 2B views. z: [2B, D] unit rows; rows i and i + B are views of image i. negatives:
// [M, D] unit rows beside the batch, M >= 0 (none in SimCLR; FedCA's dictionary). tau > 0. Gradient
// flows to z alone. A scalar.
at::Tensor NtXent(const at::Tensor& z, const at::Tensor& negatives, double tau);

}  // namespace kindred

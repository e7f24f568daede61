// Predicting another network's features.
#pragma once

#include <ATen/core/Tensor.h>

namespace kindred {

// BYOL's loss (Grill et al. 2020, Eq. 2): the squared distance of the two directions,
//
//   l = | p / |p| - z / |z| |^2 = 2 - 2 p.z / (|p| |z|),  mean over the batch.
//
// p: [B, D] predictions, z: [B, D] what they are to be. Gradient flows to p alone. 0 to 4.
at::Tensor LatentRegression(const at::Tensor& p, const at::Tensor& z);

}  // namespace kindred

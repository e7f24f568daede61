// Predicting the cluster that an embedding was put into.
#pragma once

#include <ATen/core/Tensor.h>

namespace kindred {

// DeepCluster-v2's loss for one clustering (Caron et al. 2020):
//
//   l = -log( exp(z.c_a / tau) / sum over k of exp(z.c_k / tau) ),  mean over the rows of z.
//
// z: [N, D] unit rows, centroids c: [K, D] unit rows, assigned a: [N] int64. Gradient flows to z
// alone.
at::Tensor ClusterPrediction(const at::Tensor& z, const at::Tensor& centroids,
                             const at::Tensor& assigned, double tau);

}  // namespace kindred

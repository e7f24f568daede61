// Linear evaluation on features computed once (`fast`): multinomial logistic regression on h.
//
//   min over W, b of  mean_i cross-entropy(W h_i + b, y_i) + |W|^2 / (2 N)
//
// which is scikit-learn's default. By gradient descent with Nesterov's momentum on whitened
// features, where the curvature is at most 1 in every direction, so that a few dozen steps are
// enough.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

namespace kindred {

struct LinearProbe {
  at::Tensor weight;    // [classes, D]
  at::Tensor bias;      // [classes]
  double lr = 0;        // the rate that was chosen,
  double held_out = 0;  // and its accuracy on the held-out tenth
};

// h: [N, D] of training images. The learning rate is the one that is best on a tenth of them, held
// out at random by `seed`; with it the probe is fitted to all. Test images have no way in. The
// result does not depend on the number of workers.
LinearProbe FitLinearProbe(const at::Tensor& h, std::span<const int> labels, int classes,
                           uint64_t seed, int workers = 1);

// Throws a usage error when training made numbers of it that are not finite.
void CheckConverged(const LinearProbe& probe);

// [N, classes].
at::Tensor Logits(const LinearProbe& probe, const at::Tensor& h);

}  // namespace kindred

// A loss whose gradient was derived by hand.
#pragma once

#include <ATen/core/Tensor.h>

namespace kindred {

// `loss`, a scalar, as a function of x whose derivative is `gradient`, of x's shape.
at::Tensor WithGradient(const at::Tensor& x, const at::Tensor& loss, const at::Tensor& gradient);

}  // namespace kindred

// Features seen from the side that shows most of them.
#pragma once

#include <ATen/core/Tensor.h>

namespace kindred {

struct Projection {
  at::Tensor points;     // [N, axes]
  double explained = 0;  // share of the variance that the first two axes show; 0 to 1
};

// The first `count` principal components of rows [N, D], points [N, count]; each axis points to
// where its largest coefficient is positive, so that the picture of the same features is the same.
// D >= count.
Projection PrincipalAxes(const at::Tensor& rows, int count);

// The first two of them. D >= 2.
Projection PrincipalPlane(const at::Tensor& rows);

}  // namespace kindred

// Features seen from the side that shows most of them.
#pragma once

#include <ATen/core/Tensor.h>

namespace kindred {

struct Projection {
  at::Tensor points;     // [N, 2]
  double explained = 0;  // share of the variance that two axes show; 0 to 1
};

// The first two principal components of rows [N, D]; each axis points to where its largest
// coefficient is positive, so that the picture of the same features is the same. D >= 2.
Projection PrincipalPlane(const at::Tensor& rows);

}  // namespace kindred

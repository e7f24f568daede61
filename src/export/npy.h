// NumPy's file format, version 1.0: one array of float32.
#pragma once

#include <ATen/core/Tensor.h>

#include "base/file.h"

namespace kindred {

// rows: [N, D] float32, contiguous.
Bytes SerializeNpy(const at::Tensor& rows);

}  // namespace kindred

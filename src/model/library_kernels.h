// Which kernels the numeric libraries took, as they report it.
#pragma once

#include "base/json.h"

namespace kindred {

// "pinned" (what they were asked for), "aten", "openblas", "onednn", "libxsmm": a word each. A
// run's digest is the same wherever these are.
Json LibraryKernels();

}  // namespace kindred

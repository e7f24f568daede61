// Eight floats at a time, in the compiler's own vector type.
#pragma once

#include <cstdint>

// Inlined always: what is compiled for several instruction sets must not be shared by the linker.
#define KINDRED_INLINE inline __attribute__((always_inline))
#define KINDRED_INLINE_LAMBDA __attribute__((always_inline))

namespace kindred {

using Lanes = float __attribute__((vector_size(32)));
// The same anywhere in memory. GCC makes one move of it, of a memcpy two that wait for each other.
using LanesAnywhere = float __attribute__((vector_size(32), aligned(4), may_alias));
inline constexpr int64_t kLanes = 8;

KINDRED_INLINE void LoadLanes(const float* from, Lanes& lanes) {
  lanes = *reinterpret_cast<const LanesAnywhere*>(from);
}
KINDRED_INLINE void StoreLanes(float* to, const Lanes& lanes) {
  *reinterpret_cast<LanesAnywhere*>(to) = lanes;
}

}  // namespace kindred

#include "kernel/kernel_path.h"

namespace kindred {

KernelPath BestKernelPath() {
  static const KernelPath best = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
                                     ? KernelPath::kAvx2
                                     : KernelPath::kPortable;
  return best;
}

}  // namespace kindred

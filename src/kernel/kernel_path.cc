#include "kernel/kernel_path.h"

#include "base/pinned_kernels.h"

namespace kindred {

KernelPath BestKernelPath() {
  static const KernelPath best = HasAvx2() ? KernelPath::kAvx2 : KernelPath::kPortable;
  return best;
}

}  // namespace kindred

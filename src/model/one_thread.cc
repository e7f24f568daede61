#include "model/one_thread.h"

#include <ATen/Parallel.h>

// OpenBLAS keeps a pool of its own; another BLAS does not have this function.
extern "C" void openblas_set_num_threads(int) __attribute__((weak));

namespace kindred {

void UseOneThread() {
  at::set_num_threads(1);
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
}

}  // namespace kindred

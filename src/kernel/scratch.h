// Memory that a kernel needs while it runs.
#pragma once

#include <cstddef>
#include <vector>

namespace kindred {

// Reused from call to call: a steady step allocates nothing. Kernels have one per thread and use.
class Scratch {
 public:
  // At least `floats`, aligned to 64 bytes. What it held is lost.
  float* Get(size_t floats);

 private:
  std::vector<float> memory_;
};

}  // namespace kindred

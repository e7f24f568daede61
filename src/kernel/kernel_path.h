// Which code a kernel runs, and on how many threads.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kindred {

enum class KernelPath { kPortable, kAvx2 };

// The best that this CPU has.
KernelPath BestKernelPath();

// Threads change no bit; paths change the last ones.
struct KernelOptions {
  KernelPath path = BestKernelPath();
  int workers = 1;

  // For so many pieces of work.
  int WorkersFor(int64_t pieces) const {
    return static_cast<int>(std::clamp<int64_t>(workers, 1, pieces));
  }
};

}  // namespace kindred

// Processor time of this process so far, of all its threads.
#pragma once

#include <time.h>

namespace kindred {

inline double CpuSeconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace kindred

// Work spread over threads. The one place of the library that starts any.
#pragma once

#include <functional>

namespace kindred {

// How many threads `workers` asks for: itself, or one a core when 0.
int WorkerCount(int workers);

// Calls work(worker, i) once for each i in 0, ..., count - 1, on `workers` threads, the
// caller's among them; each takes the next i when it is free. `worker` is 0, ..., workers - 1. When
// a call throws, no further i is begun and the first exception leaves here.
void ParallelFor(int workers, int count, const std::function<void(int worker, int i)>& work);

}  // namespace kindred

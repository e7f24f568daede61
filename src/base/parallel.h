// Work spread over threads. The one place of the library that starts any.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <thread>

namespace kindred {

// How many threads `workers` asks for: itself, or when 0 one for each core that this process may
// use
// (`taskset`, `mpirun --bind-to`).
int WorkerCount(int workers);

// Calls work(worker, i) once for each i in 0, ..., count - 1, on `workers` threads, the
// caller's among them; each takes the next i when it is free. `worker` is 0, ..., workers - 1. When
// a call throws, no further i is begun and the first exception leaves here.
void ParallelFor(int workers, int count, const std::function<void(int worker, int i)>& work);

// A thread beside its owner, for waiting on what happens outside. `work` is called once; it returns
// soon after its stop token asks it to and throws nothing. `name` is what ps and debuggers show, of
// which Linux keeps 15 characters.
class BackgroundThread {
 public:
  BackgroundThread(std::string name, std::function<void(std::stop_token)> work);
  ~BackgroundThread() = default;  // asks `work` to stop and waits until it returned
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;

 private:
  std::jthread thread_;
};

}  // namespace kindred

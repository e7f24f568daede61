#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace kindred {

int WorkerCount(int workers) {
  return workers > 0 ? workers : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void ParallelFor(int workers, int count, const std::function<void(int worker, int i)>& work) {
  std::atomic<int> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&](int worker) {
    try {
      for (int i = next++; i < count; i = next++) work(worker, i);
    } catch (...) {
      next = count;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (int worker = 0; worker < std::min(workers, count); ++worker) {
    threads.emplace_back(run, worker);
  }
  for (auto& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kindred

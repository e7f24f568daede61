#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <latch>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/error.h"

namespace kindred {
namespace {

// Threads that wait for work between calls: what a thread has set up for itself lasts, and a call
// costs no thread's birth. There are as many as were ever busy at once.
class Pool {
 public:
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    wake_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

  // Runs the job on a thread of its own: one that waits, or a new one. False when the system gives
  // no more threads.
  bool Start(std::function<void()> job) {
    const std::lock_guard lock(mutex_);
    if (jobs_.size() + 1 > waiting_) {
      try {
        threads_.emplace_back([this] { Serve(); });
      } catch (const std::system_error&) {
        return false;
      }
    }
    jobs_.push_back(std::move(job));
    wake_.notify_one();
    return true;
  }

 private:
  void Serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      ++waiting_;
      wake_.wait(lock, [&] { return closing_ || !jobs_.empty(); });
      --waiting_;
      if (jobs_.empty()) return;
      const auto job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> jobs_;
  size_t waiting_ = 0;
  bool closing_ = false;
  std::vector<std::thread> threads_;
};

Pool& ThePool() {
  static Pool pool;
  return pool;
}

}  // namespace

int WorkerCount(int workers) {
  if (workers > 0) return workers;
  cpu_set_t cores;  // of a machine with more than 1,024, the library's number
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0) return std::max(1, CPU_COUNT(&cores));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
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
  const int others = std::min(workers, count) - 1;
  if (others <= 0) {
    run(0);
  } else {
    // Shared: the last to count down may still be at it when the wait is over.
    const auto done = std::make_shared<std::latch>(others);
    for (int worker = 1; worker <= others; ++worker) {
      const bool started = ThePool().Start([&run, worker, done] {
        run(worker);
        done->count_down();
      });
      if (!started) done->count_down();  // those that run do its part
    }
    run(0);
    done->wait();
  }
  if (failure) std::rethrow_exception(failure);
}

BackgroundThread::BackgroundThread(std::string name, std::function<void(std::stop_token)> work) {
  try {
    thread_ = std::jthread([work = std::move(work)](std::stop_token stop) noexcept { work(stop); });
  } catch (const std::system_error& error) {
    throw Error(ExitCode::kInternal,
                fmt::format("{}: the system gives no thread for it: {}; raise `ulimit -u`", name,
                            error.what()));
  }
  ::pthread_setname_np(thread_.native_handle(), name.substr(0, 15).c_str());
}

}  // namespace kindred

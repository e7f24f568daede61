// Which transfers are cut, so that nobody holds a place for nothing: those below the least rate,
// and those of what is over.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

#include "federation/coordinator_options.h"

namespace kindred {

// A transfer whose pace is watched.
struct Paced {
  Paced(std::function<void()> cut_it, bool is_upload)
      : cancel(std::move(cut_it)), upload(is_upload) {}

  const std::function<void()> cancel;
  const bool upload;
  std::atomic<uint64_t> moved = 0;    // bytes so far
  std::atomic<bool> waiting = false;  // for us, not for the client
  std::atomic<bool> cut = false;

 private:
  friend class Pace;
  std::shared_ptr<const std::atomic<bool>> over_;
  uint64_t before_ = 0;  // at the last look
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

// The transfers under way. Any thread.
class Pace {
 public:
  explicit Pace(const WireLimits& limits) : limits_(limits) {}

  void Add(Paced* transfer);
  void Remove(Paced* transfer);
  // The transfer makes no sense any more once `over` is true.
  void EndWith(Paced* transfer, std::shared_ptr<const std::atomic<bool>> over);

  // Cuts those that are over, and those that were too slow over the last window. `needed`: bytes
  // per second that uploads must make because others wait for their room.
  void Look(double needed);

 private:
  WireLimits limits_;
  std::mutex mutex_;
  std::list<Paced*> transfers_;
};

}  // namespace kindred

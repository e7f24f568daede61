#include "federation/pace.h"

#include <algorithm>
#include <utility>

namespace kindred {

void Pace::Add(Paced* transfer) {
  const std::lock_guard lock(mutex_);
  transfers_.push_back(transfer);
}

void Pace::Remove(Paced* transfer) {
  const std::lock_guard lock(mutex_);
  transfers_.remove(transfer);
}

void Pace::EndWith(Paced* transfer, std::shared_ptr<const std::atomic<bool>> over) {
  const std::lock_guard lock(mutex_);
  transfer->over_ = std::move(over);
}

void Pace::Look(double needed) {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  for (Paced* transfer : transfers_) {
    if (transfer->over_ && *transfer->over_) {
      if (!transfer->cut.exchange(true)) transfer->cancel();
      continue;
    }
    const double seconds = std::chrono::duration<double>(now - transfer->since_).count();
    const uint64_t moved = transfer->moved;
    if (transfer->waiting) {
      transfer->since_ = now;
      continue;
    }
    if (seconds < limits_.rate_window) continue;
    const double least = transfer->upload ? std::max(limits_.min_rate, needed) : limits_.min_rate;
    const bool slow = static_cast<double>(moved - transfer->before_) < least * seconds;
    transfer->since_ = now;
    transfer->before_ = moved;
    if (slow && !transfer->cut.exchange(true)) transfer->cancel();
  }
}

}  // namespace kindred

#include "federation/call_rate.h"

#include <fmt/format.h>

#include <algorithm>

#include "transport/refusal.h"

namespace kindred {

void CallRate::Count(int client, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  Bucket& bucket = buckets_.try_emplace(client, Bucket{burst_, now}).first->second;
  const double seconds = std::chrono::duration<double>(now - bucket.at).count();
  bucket.left = std::min(burst_, bucket.left + per_second_ * seconds);
  bucket.at = now;
  if (bucket.left < 1) {
    throw Refused{Refusal::kBusy,
                  fmt::format("more than {:.0f} calls per second; ask again later", per_second_)};
  }
  bucket.left -= 1;
}

}  // namespace kindred

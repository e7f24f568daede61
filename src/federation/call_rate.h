// How many calls a client may make.
#pragma once

#include <chrono>
#include <map>
#include <mutex>

namespace kindred {

// A bucket of calls per client, which fills up at a rate. Any thread.
class CallRate {
 public:
  using Clock = std::chrono::steady_clock;

  CallRate(double per_second, double burst) : per_second_(per_second), burst_(burst) {}

  // A call of the client at this time. Throws Refused when it has made too many.
  void Count(int client, Clock::time_point now);

 private:
  struct Bucket {
    double left;
    Clock::time_point at;
  };

  const double per_second_, burst_;
  std::mutex mutex_;
  std::map<int, Bucket> buckets_;
};

}  // namespace kindred

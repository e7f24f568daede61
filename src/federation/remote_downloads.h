// Remote features on their way out, within a budget of memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "federation/round_plans.h"

namespace kindred {

// Any thread.
class RemoteDownloads {
 public:
  // Bytes at most; the features of one client always fit.
  explicit RemoteDownloads(uint64_t most) : most_(most) {}

  // What the others share with a client; its bytes count until it is let go of. Throws Refused when
  // there is no room now, or the round is over.
  std::shared_ptr<const Content> Begin(RoundPlans& plans, int client);

  uint64_t Bytes() const { return *taken_; }

 private:
  class Download;

  const uint64_t most_;
  // Shared with what is on its way.
  std::shared_ptr<std::atomic<uint64_t>> taken_ = std::make_shared<std::atomic<uint64_t>>(0);
};

}  // namespace kindred

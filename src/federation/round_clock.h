// When a round may begin and when it is over.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "federation/coordinator_options.h"
#include "federation/open_round.h"
#include "federation/roster.h"
#include "transport/transport.h"

namespace kindred {

// The wait before a round, until as many clients are there as it needs.
class ClientWait {
 public:
  using Clock = std::chrono::steady_clock;

  ClientWait(const CoordinatorOptions& options, Clock::time_point begun)
      : options_(options), begun_(begun) {}

  // How it is now.
  struct State {
    std::optional<std::vector<int>> clients;  // whom the round may ask, once there are enough
    std::string news;                         // for the log; empty: nothing new
    std::string alarm;                        // why no round can begin, for the audit log
  };
  State Update(const Roster& roster, const EnrolledNames& enrolled, Clock::time_point now);

 private:
  const CoordinatorOptions& options_;
  const Clock::time_point begun_;
  // What was told already: who is there at the beginning, and when patience is over.
  bool told_ = false, told_late_ = false, alarmed_ = false;
};

enum class RoundStatus { kOpen, kEnough, kTooFew };

// The rules by which a round ends.
class RoundClock {
 public:
  using Clock = std::chrono::steady_clock;

  RoundClock(const CoordinatorOptions& options, const Chosen& chosen, Clock::time_point begun)
      : options_(options), chosen_(chosen), begun_(begun) {}

  // Updates without which the round begins again.
  int Needed() const;

  // Whether the round has what it waits for. It goes on without those who missed rounds before, and
  // after the deadline without the slow, if it has enough.
  RoundStatus Status(const OpenRound& round, const Roster& roster, const EnrolledNames& enrolled,
                     Clock::time_point now) const;

  // Those of the chosen that the round has waited for, or that were silent before it: the others
  // were not needed any more, or are asked again when the round begins again.
  std::vector<int> WaitedFor(const Roster& roster, const EnrolledNames& enrolled,
                             Clock::time_point now) const;

 private:
  // Of the deadline, which has passed when it is 1.
  double ShareWaited(Clock::time_point now) const;

  const CoordinatorOptions& options_;
  const Chosen& chosen_;
  const Clock::time_point begun_;
};

}  // namespace kindred

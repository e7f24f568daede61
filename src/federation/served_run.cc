#include "federation/served_run.h"

#include <fmt/format.h>

#include <utility>

#include "base/log.h"

namespace kindred {

ServedRun::ServedRun(const CoordinatorOptions& with, RunOffer run_offer, Members members,
                     Enrolled who, const std::atomic<bool>& stop_flag,
                     std::function<void(const AuditEvent&)> to_audit)
    : options(with),
      offer(std::move(run_offer)),
      enrolled(std::move(who)),
      stop(stop_flag),
      audit(std::move(to_audit)),
      roster(with, std::move(members)) {}

void ServedRun::CheckIn(const Caller& caller, const std::string& run) {
  if (run != offer.run) {
    throw Refused{Refusal::kRun, fmt::format("another run is on: {}; join it", offer.run)};
  }
  roster.CheckIn(caller);
  if (roster.IsUsedTwice(caller)) {
    at_next_tick.push_back([this, name = caller.name] {
      Alarm(0, fmt::format("two processes take part as {}: its kit is in use twice, and what they "
                           "send is refused in turns; end one of them, or issue a kit for each",
                           name));
    });
  }
}

OpenRound& ServedRun::RoundNow() {
  if (!round) throw Refused{Refusal::kRound, "no round is on"};
  return *round;
}

void ServedRun::Alarm(int round_of_it, const std::string& detail) const {
  spdlog::warn("{}{}", round_of_it > 0 ? fmt::format("round {}: ", round_of_it) : "", detail);
  audit({.event = "alarm", .round = round_of_it, .detail = detail});
}

}  // namespace kindred

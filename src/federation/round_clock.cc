#include "federation/round_clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kindred {

ClientWait::State ClientWait::Update(const Roster& roster, const EnrolledNames& enrolled,
                                     Clock::time_point now) {
  const Roster::Present present = roster.FindPresent(enrolled, now);
  const int enough = std::max(1, options_.min_clients);
  const auto count = static_cast<int>(present.clients.size());
  const bool late = now - begun_ > std::chrono::duration<double>(options_.patience);
  State state;
  // A run that is under way has its members; the first round waits for those who are enrolled.
  if (count >= enough && (present.begun || count == present.expected || late)) {
    state.clients = present.clients;
    return state;
  }
  if (!told_ || (late && !told_late_)) {
    told_late_ = std::exchange(told_, true);
    state.news = fmt::format(
        "{} of {} enrolled clients have joined; {}", count, present.expected,
        present.begun ? fmt::format("a round needs {}", enough)
                      : fmt::format("the first round waits for all of them for {:.0f} s, and "
                                    "needs {}",
                                    options_.patience, enough));
  }
  if (count < enough && !present.sitting.empty() && !std::exchange(alarmed_, true)) {
    state.alarm = roster.StuckMessage(present);
  }
  return state;
}

int RoundClock::Needed() const { return std::min(options_.min_clients, chosen_.wanted); }

RoundStatus RoundClock::Status(const OpenRound& round, const Roster& roster,
                               const EnrolledNames& enrolled, Clock::time_point now) const {
  const int accepted = round.Accepted();
  if (accepted >= chosen_.wanted) return RoundStatus::kEnough;
  int possible = accepted;
  bool waited_for = false, arriving = false;
  for (const int client : chosen_.clients) {
    if (!round.CanTrain(client) || roster.IsOut(client, enrolled)) continue;
    ++possible;
    const RoundPart& part = round.parts.at(client);
    if (part.streaming || part.whole) arriving = true;
    if (!roster.IsSilent(client)) waited_for = true;
  }
  const double waited = ShareWaited(now);
  if (accepted >= Needed()) {
    return waited >= 1 || !waited_for ? RoundStatus::kEnough : RoundStatus::kOpen;
  }
  // What is on its way would have to come again: it is let in, but not for ever.
  const bool over = waited >= (arriving ? 2 : 1);
  return possible < Needed() || over ? RoundStatus::kTooFew : RoundStatus::kOpen;
}

std::vector<int> RoundClock::WaitedFor(const Roster& roster, const EnrolledNames& enrolled,
                                       Clock::time_point now) const {
  const bool late = ShareWaited(now) >= 1;
  std::vector<int> clients;
  for (const int client : chosen_.clients) {
    if (roster.IsOut(client, enrolled)) continue;
    if (late || roster.IsSilent(client)) clients.push_back(client);
  }
  return clients;
}

double RoundClock::ShareWaited(Clock::time_point now) const {
  return std::chrono::duration<double>(now - begun_).count() / options_.deadline;
}

}  // namespace kindred

#include "federation/roster.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace kindred {

namespace {

constexpr int kMostMissed = 2;  // rounds in a row after which a silent client is not waited for

// A client that missed rounds has called: it is asked again, and once more waited for. Whoever
// calls and never answers must not make every round last until its deadline.
void MarkHeard(Member& member) {
  member.heard = true;
  if (member.missed >= kMostMissed && member.chances > 0) {
    --member.chances;
    member.missed = kMostMissed - 1;
  }
}

Refused NotAMember() { return {Refusal::kMember, "not a member of the run yet; join it"}; }

Refused OutOfTheRun(const Member& member) {
  return {Refusal::kStrikes,
          fmt::format("out of the run after {} refused updates", member.strikes)};
}

}  // namespace

void Roster::Join(const Caller& caller, int64_t images) {
  if (images < 0 || images > options_.max_images) {
    throw Refused{Refusal::kImages,
                  fmt::format("{} images; a client has 1 to server.max_images = {}", images,
                              options_.max_images)};
  }
  if (caller.images > 0 && images != caller.images) {
    throw Refused{Refusal::kImages,
                  fmt::format("{} images, but `pki issue` enrolled this client with {}", images,
                              caller.images)};
  }
  const auto before = members_.find(caller.place);
  if (before != members_.end() && before->second.images != images && caller.images == 0) {
    throw Refused{Refusal::kImages,
                  fmt::format("{} images, but this client enrolled with {}; the data of a client "
                              "stay the same during a run",
                              images, before->second.images)};
  }
  Member& member = members_[caller.place];
  if (member.strikes >= options_.strikes) throw OutOfTheRun(member);
  member.name = caller.name;
  member.images = images;
  member.left = false;
  MarkHeard(member);
}

void Roster::CheckIn(const Caller& caller) {
  const auto at = members_.find(caller.place);
  if (at == members_.end()) throw NotAMember();
  if (at->second.strikes >= options_.strikes) throw OutOfTheRun(at->second);
  if (caller.images > 0 && at->second.images != caller.images) {
    throw Refused{Refusal::kMember, "enrolled with another number of images since; join again"};
  }
  MarkHeard(at->second);
}

bool Roster::IsUsedTwice(const Caller& caller) {
  Processes& known = processes_[caller.place];
  if (caller.process.empty() || caller.process == known.newest) return false;
  const bool back = caller.process == known.before;
  known.before = std::exchange(known.newest, caller.process);
  return back && !std::exchange(known.told, true);
}

void Roster::Strike(int client, Refusal reason, Clock::time_point now) {
  Member& member = members_.at(client);
  ++member.strikes;
  sits_out_[client] = {.since = now, .reason = reason};
  if (member.strikes >= options_.strikes) {
    spdlog::warn("client {} is out of the run after {} refused updates", member.name,
                 member.strikes);
  }
}

int Roster::TakeBackStrikes(int counted) {
  std::vector<int> refused;
  for (const auto& [client, sitting] : sits_out_) {
    if (sitting.reason == Refusal::kNorm) refused.push_back(client);
  }
  if (std::ssize(refused) <= counted) return 0;
  int taken_back = 0;
  for (const int client : refused) {
    if (std::exchange(sits_out_.at(client).taken_back, true)) continue;
    --members_.at(client).strikes;
    ++taken_back;
  }
  return taken_back;
}

void Roster::Count(int client) {
  Member& member = members_.at(client);
  ++member.rounds;
  member.missed = 0;
  member.chances = Member().chances;
}

void Roster::Miss(int client) {
  Member& member = members_.at(client);
  ++member.missed;
  member.heard = false;
}

std::optional<Refused> Roster::ReasonOut(int client, const EnrolledNames& enrolled) const {
  if (!enrolled.contains(client)) return Refused{Refusal::kRevoked, "no longer enrolled"};
  const auto member = members_.find(client);
  if (member == members_.end()) return NotAMember();
  if (member->second.strikes >= options_.strikes) return OutOfTheRun(member->second);
  if (member->second.left) return Refused{Refusal::kMember, "it has left the run; join again"};
  return std::nullopt;
}

bool Roster::IsSilent(int client) const { return members_.at(client).missed >= kMostMissed; }

Roster::Present Roster::FindPresent(const EnrolledNames& enrolled, Clock::time_point now) const {
  Present present;
  for (const auto& [place, name] : enrolled) {
    const bool out = IsOut(place, enrolled);
    const auto sits = sits_out_.find(place);
    if (!out && sits != sits_out_.end() &&
        now - sits->second.since < std::chrono::duration<double>(options_.deadline)) {
      present.sitting.emplace(name, sits->second.reason);
      continue;
    }
    if (!out || !Has(place)) ++present.expected;
    if (!out && (!IsSilent(place) || at(place).heard)) present.clients.push_back(place);
  }
  present.begun = std::any_of(members_.begin(), members_.end(),
                              [](const auto& entry) { return entry.second.rounds > 0; });
  return present;
}

std::string Roster::StuckMessage(const Present& present) const {
  std::string who;
  for (const auto& [name, reason] : present.sitting) {
    who += fmt::format("{}{} ({})", who.empty() ? "" : ", ", name, WordOf(reason));
  }
  return fmt::format(
      "{} clients may take part and a round needs {}; refused and sitting it out: {}; they are "
      "asked again server.deadline = {:.0f} s after that; mend them, enrol others, or restart with "
      "--resume and a lower server.min_clients",
      present.clients.size(), std::max(1, options_.min_clients), who, options_.deadline);
}

}  // namespace kindred

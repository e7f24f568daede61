// The rules of membership in a run over a network: who may join, who is waited for, who is out.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "federation/coordinator_options.h"
#include "federation/members.h"
#include "transport/refusal.h"

namespace kindred {

// Who calls: what the certificate says.
struct Caller {
  int place = 0;
  std::string name;
  int64_t images = 0;        // |D_c| that it was enrolled with; 0: its own word counts
  std::string process = {};  // which of a client's processes, by its own word; empty: not told
};

// Names of those whose enrolment is valid, by place.
using EnrolledNames = std::map<int, std::string>;

// Not to be shared between threads: its owner locks.
class Roster {
 public:
  using Clock = std::chrono::steady_clock;

  Roster(const CoordinatorOptions& options, Members members)
      : options_(options), members_(std::move(members)) {}

  const Members& members() const { return members_; }
  const Member& at(int client) const { return members_.at(client); }
  bool Has(int client) const { return members_.contains(client); }

  // The caller joins, or comes back, with so many images. Throws Refused.
  void Join(const Caller& caller, int64_t images);

  // A member in good standing has called. Throws Refused when the caller is not one.
  void CheckIn(const Caller& caller);

  // Whether the caller is a process that another of the same client had taken the place of: two are
  // at it, with one kit. True once for each client.
  bool IsUsedTwice(const Caller& caller);

  void Leave(int client) { members_.at(client).left = true; }

  // An update of a member was refused for what it held. It sits out the round, however often that
  // is tried, for server.deadline: the same bytes would come again. After server.strikes of them it
  // is out of the run.
  void Strike(int client, Refusal reason, Clock::time_point now);
  // Its update counts.
  void Count(int client);
  // The round went on without it.
  void Miss(int client);
  // So many updates of the round counted. When more were refused for their distance, the measure is
  // wrong rather than the clients: they get their strikes back. Gives how many.
  int TakeBackStrikes(int counted);
  // The round has what it needed: who sat it out may take part in the next.
  void EndRound() { sits_out_.clear(); }

  // Why nobody waits for it, as it would be told: it was revoked or thrown out, has left, or never
  // joined. nullopt: it is of the run.
  std::optional<Refused> ReasonOut(int client, const EnrolledNames& enrolled) const;
  bool IsOut(int client, const EnrolledNames& enrolled) const {
    return ReasonOut(client, enrolled).has_value();
  }
  // Rounds end before their deadline without it: it was silent in those before.
  bool IsSilent(int client) const;

  // Who could be asked now.
  struct Present {
    std::vector<int> clients;
    int expected = 0;    // of the enrolled, those who could come to be
    bool begun = false;  // the run has members whose updates counted
    // Who sits out the round, and the reason that its update was refused for.
    std::map<std::string, Refusal> sitting;
  };
  Present FindPresent(const EnrolledNames& enrolled, Clock::time_point now) const;

  // For people: why a round cannot begin while some sit it out, and what to do.
  std::string StuckMessage(const Present& present) const;

 private:
  CoordinatorOptions options_;
  Members members_;
  struct Sitting {
    Clock::time_point since;
    Refusal reason;
    bool taken_back = false;  // its strike
  };
  std::map<int, Sitting> sits_out_;  // refused in the round under way
  struct Processes {
    std::string newest, before;
    bool told = false;  // that they take turns
  };
  std::map<int, Processes> processes_;
};

}  // namespace kindred

// A run under way: what the parts of its coordinator share.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "federation/coordinator_options.h"
#include "federation/open_round.h"
#include "federation/roster.h"
#include "record/audit_log.h"

namespace kindred {

// What a run tells its clients when they join.
struct RunOffer {
  std::string run;
  int rounds = 1;
  std::vector<std::string> settings;  // "section.key = value"
  std::string input;                  // EncoderInput as text
  int classes = 0;
  std::string data;
  UploadShape shape;
};

// Those whose enrolment is valid now. Asked often; may change while a run lasts.
using Enrolled = std::function<EnrolledNames()>;

// One lock for all parts. Each holds it briefly, in a scope of its own; `enrolled`, `audit` and
// what clients are answered by are called without it.
struct ServedRun {
  ServedRun(const CoordinatorOptions& with, RunOffer run_offer, Members members, Enrolled who,
            const std::atomic<bool>& stop_flag, std::function<void(const AuditEvent&)> to_audit);

  const CoordinatorOptions options;
  const RunOffer offer;
  const Enrolled enrolled;
  const std::atomic<bool>& stop;
  const std::function<void(const AuditEvent&)> audit;

  mutable std::mutex mutex;  // of all below
  std::condition_variable changed;
  Roster roster;
  std::optional<OpenRound> round;
  Later at_next_tick;

  // --- to be called with the lock
  // Throws Refused unless the caller is a member of this run in good standing.
  void CheckIn(const Caller& caller, const std::string& run);
  // Throws Refused when there is none.
  OpenRound& RoundNow();
  bool CanTrain(int client) const { return round && round->CanTrain(client); }

  // --- and without
  // For people, in the log and in the audit log. `round_of_it`: counted from 1; 0: of none.
  void Alarm(int round_of_it, const std::string& detail) const;
};

}  // namespace kindred

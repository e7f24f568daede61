#include "federation/coordinator.h"

#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/error.h"
#include "base/log.h"

namespace kindred {

namespace {

constexpr auto kTurn = std::chrono::milliseconds(200);  // how often a wait looks at the stop flag

}  // namespace

Coordinator::Coordinator(const CoordinatorOptions& options, RunOffer offer, Members members,
                         Enrolled enrolled, const std::atomic<bool>& stop,
                         std::function<void(const AuditEvent&)> audit)
    : run_(options, std::move(offer), std::move(members), std::move(enrolled), stop,
           std::move(audit)),
      plans_(run_),
      uploads_(run_) {}

// --- what clients ask for

v1::JoinReply Coordinator::Join(const Caller& caller, const v1::JoinRequest& request) {
  if (request.protocol() != kProtocol) {
    throw Refused{Refusal::kProtocol,
                  fmt::format("protocol {}, this coordinator speaks {}; install the "
                              "same version of kindred on both sides",
                              request.protocol(), kProtocol)};
  }
  if (request.images() == 0) return Offer(caller);  // asks what is learned, before it joins
  {
    const std::lock_guard lock(run_.mutex);
    run_.roster.Join(caller, request.images());
    run_.changed.notify_all();
  }
  run_.audit({.event = "join",
              .client = caller.name,
              .detail = fmt::format("{} images, version {}", request.images(),
                                    Printable(Shortened(request.version(), 32)))});
  return Offer(caller);
}

v1::JoinReply Coordinator::Offer(const Caller& caller) const {
  const RunOffer& offer = run_.offer;
  v1::JoinReply reply;
  reply.set_protocol(kProtocol);
  reply.set_run(offer.run);
  reply.set_client(static_cast<uint32_t>(caller.place));
  reply.set_rounds(static_cast<uint32_t>(offer.rounds));
  for (const auto& setting : offer.settings) reply.add_settings(setting);
  reply.set_manifest_hash(HashOf(offer.shape.manifest));
  reply.set_input(offer.input);
  reply.set_classes(static_cast<uint32_t>(offer.classes));
  reply.set_data(offer.data);
  reply.set_half(offer.shape.precision == Precision::kHalf);
  return reply;
}

void Coordinator::Leave(const Caller& caller, const v1::LeaveRequest& request) {
  {
    const std::lock_guard lock(run_.mutex);
    run_.CheckIn(caller, request.run());
    if (request.has_model()) {
      has_model_.insert(caller.place);
    } else {
      run_.roster.Leave(caller.place);
    }
    run_.changed.notify_all();
  }
  if (!request.has_model()) run_.audit({.event = "leave", .client = caller.name});
}

void Coordinator::CheckMayUpload(const Caller& caller) {
  const std::lock_guard lock(run_.mutex);
  run_.CheckIn(caller, run_.offer.run);
}

void Coordinator::Tick() {
  plans_.AnswerOverdue();
  uploads_.Tick();
  Later later;
  {
    const std::lock_guard lock(run_.mutex);
    later = std::exchange(run_.at_next_tick, {});
  }
  for (const auto& call : later) call();
}

Members Coordinator::CurrentMembers() const {
  const std::lock_guard lock(run_.mutex);
  return run_.roster.members();
}

int64_t Coordinator::ImagesOf(int client) const {
  const std::lock_guard lock(run_.mutex);
  return run_.roster.at(client).images;
}

// --- rounds

std::vector<int> Coordinator::Available() {
  ClientWait wait(run_.options, Clock::now());
  while (true) {
    if (run_.stop) throw Interrupted{};
    const auto enrolled = run_.enrolled();
    ClientWait::State state;
    {
      std::unique_lock lock(run_.mutex);
      state = wait.Update(run_.roster, enrolled, Clock::now());
      if (state.clients) return *state.clients;
      if (state.news.empty() && state.alarm.empty()) run_.changed.wait_for(lock, kTurn);
    }
    if (!state.news.empty()) spdlog::info("{}", state.news);
    if (!state.alarm.empty()) run_.Alarm(0, state.alarm);
  }
}

std::optional<Traffic> Coordinator::Run(const PlanFor& plan_for, const Chosen& chosen,
                                        Intake& intake) {
  const Plan plan = plan_for(chosen.clients.front());
  const auto plans = std::make_shared<RoundPlans>(plan_for, plan, run_.offer.shape);
  const Traffic before = {.down = plans_.Sent(), .up = uploads_.Received()};
  OpenRound round = {.number = plan.round, .nonce = plans->nonce(), .plans = plans};
  for (const int client : chosen.clients) round.parts[client] = {};
  {
    const std::lock_guard lock(run_.mutex);
    run_.round = std::move(round);
  }
  const RoundClock clock(run_.options, chosen, Clock::now());
  RoundEnd end = {};
  try {
    plans_.AnswerReady();
    end = TakeUploads(clock, intake);
  } catch (...) {
    Close({});
    throw;
  }
  const int accepted = Close(end.waited_for);
  if (end.status == RoundStatus::kTooFew) {
    run_.Alarm(plan.round + 1,
               fmt::format("{} of {} needed updates came and no more will; the round begins again",
                           accepted, clock.Needed()));
    return std::nullopt;
  }
  const std::lock_guard lock(run_.mutex);
  run_.roster.EndRound();
  return Traffic{.down = plans_.Sent() - before.down, .up = uploads_.Received() - before.up};
}

// Takes whole uploads until the round has what it waits for, or cannot get it.
Coordinator::RoundEnd Coordinator::TakeUploads(const RoundClock& clock, Intake& intake) {
  while (true) {
    const auto enrolled = run_.enrolled();
    std::optional<WholeUpload> whole;
    {
      std::unique_lock lock(run_.mutex);
      const auto now = Clock::now();
      const RoundStatus status = clock.Status(*run_.round, run_.roster, enrolled, now);
      if (status != RoundStatus::kOpen) {
        run_.round->closing = true;
        return {status, clock.WaitedFor(run_.roster, enrolled, now)};
      }
      if (run_.stop) throw Interrupted{};
      whole = uploads_.Next();
      if (!whole) run_.changed.wait_for(lock, kTurn);
    }
    if (whole) Deliver(*whole, intake);
  }
}

// A whole upload becomes an arrival; its client is told what came of it, whatever that is.
void Coordinator::Deliver(WholeUpload& whole, Intake& intake) {
  Verdict verdict;
  Later later;
  try {
    verdict = Judge(*whole.upload, intake);
    later = uploads_.Settle(whole, verdict);
  } catch (...) {
    whole.done(Refused{Refusal::kRound, "the coordinator ends the round"});
    throw;
  }
  for (const auto& admitted : later) admitted();
  whole.done(verdict.refused);
}

// The round loop says whether an update counts, unless its client is out since it began.
Verdict Coordinator::Judge(IncomingUpload& upload, Intake& intake) const {
  const auto enrolled = run_.enrolled();
  AuditEvent event;
  Verdict verdict;
  {
    const std::lock_guard lock(run_.mutex);
    verdict.refused = run_.roster.ReasonOut(upload.client(), enrolled);  // it may come back with it
    event.client = run_.roster.at(upload.client()).name;
    event.round = run_.round->number + 1;
  }
  if (!verdict.refused) {
    verdict.refused = TakeIn(upload, intake);
    // Or the same would come again.
    verdict.sits_out = verdict.refused && verdict.refused->reason != Refusal::kBusy;
  }
  event.event = verdict.refused ? "refuse" : "accept";
  event.reason = verdict.refused ? WordOf(verdict.refused->reason) : "";
  event.detail =
      verdict.refused ? verdict.refused->message : fmt::format("{} bytes", upload.header().bytes());
  run_.audit(event);
  return verdict;
}

// Too little memory, to unpack the update or to add it, is nobody's fault: it may come again.
std::optional<Refused> Coordinator::TakeIn(IncomingUpload& upload, Intake& intake) const try {
  return intake.Add(ArrivalOf(upload, run_.offer.shape));
} catch (const std::bad_alloc&) {
  return Refused{Refusal::kBusy, "no memory for it now; send it again"};
} catch (const c10::Error& error) {  // LibTorch's way to say the same
  spdlog::error("an update cannot be taken: {}", Printable(error.what_without_backtrace()));
  return Refused{Refusal::kBusy, "no memory for it now; send it again"};
}

// Nobody can reach the round any more; what was under way is told that it is over. Gives how many
// updates counted.
int Coordinator::Close(const std::vector<int>& waited_for) {
  std::shared_ptr<RoundPlans> plans;
  {
    const std::lock_guard lock(run_.mutex);
    run_.round->closing = true;
    plans = run_.round->plans;
  }
  plans->Close();
  std::vector<std::string> missed;
  std::vector<WholeUpload> late;
  std::optional<OpenRound> round;
  int taken_back = 0;
  {
    const std::lock_guard lock(run_.mutex);
    for (const int client : waited_for) {
      const RoundPart& part = run_.round->parts.at(client);
      if (!part.accepted.empty() || part.refused) continue;
      run_.roster.Miss(client);
      missed.push_back(run_.roster.at(client).name);
    }
    late = uploads_.CloseRound();
    round = std::exchange(run_.round, std::nullopt);
    taken_back = run_.roster.TakeBackStrikes(round->Accepted());
  }
  if (taken_back > 0) {
    run_.Alarm(round->number + 1,
               fmt::format("more updates were refused for their distance than counted: {} strikes "
                           "are taken back; server.norm_ratio and server.max_norm may be changed "
                           "with --resume",
                           taken_back));
  }
  for (const auto& name : missed) {
    run_.audit({.event = "miss", .client = name, .round = round->number + 1});
    spdlog::info("round {}: goes on without {}", round->number + 1, name);
  }
  for (const auto& each : late) each.done(Refused{Refusal::kRound, "the round is over"});
  return round->Accepted();
}

void Coordinator::Finish(const NamedTensors& model) {
  plans_.HandOut(model);
  const auto until = Clock::now() + std::chrono::duration<double>(run_.options.linger);
  const auto enrolled = run_.enrolled();
  std::unique_lock lock(run_.mutex);
  while (!run_.stop && Clock::now() < until && !AllHaveModel(enrolled)) {
    run_.changed.wait_for(lock, kTurn);
  }
}

// With the lock.
bool Coordinator::AllHaveModel(const EnrolledNames& enrolled) const {
  const Members& members = run_.roster.members();
  return std::all_of(members.begin(), members.end(), [&](const auto& entry) {
    return run_.roster.IsOut(entry.first, enrolled) || has_model_.contains(entry.first);
  });
}

}  // namespace kindred

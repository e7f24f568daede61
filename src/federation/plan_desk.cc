#include "federation/plan_desk.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace kindred {

namespace {

v1::PlanReply Wait() {
  v1::PlanReply reply;
  reply.set_state(v1::PlanReply::WAIT);
  return reply;
}

}  // namespace

PlanDesk::PlanDesk(ServedRun& run)
    : run_(run), downloads_(static_cast<uint64_t>(run.options.upload_memory) << 20) {}

void PlanDesk::WaitForPlan(const Caller& caller, const v1::PlanRequest& request,
                           PlanAnswer answer) {
  PlanAnswer replaced;
  {
    const std::lock_guard lock(run_.mutex);
    run_.CheckIn(caller, request.run());
    if (!dismissed_ && !HasTask(caller.place)) {
      Waiter& waiter = waiters_[caller.place];  // one per client: who asks twice was cut off
      replaced = std::move(waiter.answer);
      waiter = {Clock::now(), std::exchange(answer, nullptr)};
    }
  }
  if (answer) answer(PlanOf(caller.place));
  if (replaced) replaced(Wait());
}

v1::PlanReply PlanDesk::PlanOf(int client) {
  std::shared_ptr<RoundPlans> plans;
  {
    const std::lock_guard lock(run_.mutex);
    if (trained_) return finished_;
    if (!run_.CanTrain(client)) return Wait();
    plans = run_.round->plans;
  }
  return plans->ReplyTo(client).value_or(Wait());
}

Handout PlanDesk::ContentOf(const Caller& caller, const v1::DownloadRequest& request) {
  std::shared_ptr<const Content> content;
  std::shared_ptr<RoundPlans> plans;
  {
    const std::lock_guard lock(run_.mutex);
    run_.CheckIn(caller, request.run());
    const bool model = request.what() == v1::DownloadRequest::MODEL;
    if (trained_ && model) {
      content = trained_;
    } else {
      run_.RoundNow().PartOf(caller.place, request.round());
      plans = run_.round->plans;
      if (model) content = plans->model();
    }
  }
  if (!content) content = downloads_.Begin(*plans, caller.place);
  if (request.offset() > content->size()) {
    throw Refused{Refusal::kOffset,
                  fmt::format("{} of {} bytes", request.offset(), content->size())};
  }
  sent_ += content->size() - request.offset();
  return {std::move(content), plans ? plans->Over() : nullptr};
}

void PlanDesk::AnswerReady() {
  std::vector<int> clients;
  {
    const std::lock_guard lock(run_.mutex);
    for (const auto& [client, waiter] : waiters_) {
      if (HasTask(client)) clients.push_back(client);
    }
  }
  for (const int client : clients) {
    const v1::PlanReply reply = PlanOf(client);
    PlanAnswer answer;
    {
      const std::lock_guard lock(run_.mutex);
      if (auto waiter = waiters_.extract(client)) answer = std::move(waiter.mapped().answer);
    }
    if (answer) answer(reply);
  }
}

void PlanDesk::AnswerOverdue() {
  std::vector<PlanAnswer> overdue;
  {
    const std::lock_guard lock(run_.mutex);
    const auto now = Clock::now();
    for (auto next = waiters_.begin(); next != waiters_.end();) {
      const auto at = next++;
      if (now - at->second.since < std::chrono::duration<double>(run_.options.poll)) continue;
      overdue.push_back(std::move(at->second.answer));
      waiters_.erase(at);
    }
  }
  for (const auto& answer : overdue) answer(Wait());
}

void PlanDesk::Dismiss() {
  std::map<int, Waiter> waiters;
  {
    const std::lock_guard lock(run_.mutex);
    dismissed_ = true;
    waiters = std::exchange(waiters_, {});
  }
  for (const auto& [client, waiter] : waiters) waiter.answer(Wait());
}

void PlanDesk::HandOut(const NamedTensors& model) {
  auto trained = std::make_shared<const Content>(model, run_.offer.shape.manifest);
  v1::PlanReply finished;
  finished.set_state(v1::PlanReply::FINISHED);
  finished.set_round(static_cast<uint32_t>(run_.offer.rounds));
  finished.set_model_digest(trained->Digest());
  finished.set_model_bytes(trained->size());
  {
    const std::lock_guard lock(run_.mutex);
    trained_ = std::move(trained);
    finished_ = std::move(finished);
  }
  AnswerReady();
}

}  // namespace kindred

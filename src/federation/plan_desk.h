// Where clients get what they are to do and what they need for it: at once, or when there is
// something to do.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "federation/remote_downloads.h"
#include "federation/served_run.h"

namespace kindred {

// What a client that waits is answered by, once.
using PlanAnswer = std::function<void(const v1::PlanReply&)>;

// What a client downloads. It is let go of when `over` becomes true: the models of rounds that have
// ended must not stay for those who read slowly. Null: it stays.
struct Handout {
  std::shared_ptr<const Content> content;
  std::shared_ptr<const std::atomic<bool>> over;
};

// Any thread, without the run's lock. `run` must outlive it.
class PlanDesk {
 public:
  explicit PlanDesk(ServedRun& run);

  // Answers at once when there is something to do, or when nobody is made to wait.
  void WaitForPlan(const Caller& caller, const v1::PlanRequest& request, PlanAnswer answer);

  // The model or the remote features of the round, or the trained model. Throws Refused.
  Handout ContentOf(const Caller& caller, const v1::DownloadRequest& request);
  // Bytes of all that ContentOf gave.
  uint64_t Sent() const { return sent_; }

  // Tells those who can train, or can have the trained model, what to do.
  void AnswerReady();
  // Tells those who have waited for long to ask again.
  void AnswerOverdue();
  // Tells all of them; nobody is made to wait from now on.
  void Dismiss();

  // From now on every client gets the trained model.
  void HandOut(const NamedTensors& model);

 private:
  using Clock = std::chrono::steady_clock;

  struct Waiter {
    Clock::time_point since;
    PlanAnswer answer;
  };

  bool HasTask(int client) const { return trained_ || run_.CanTrain(client); }  // with the lock
  v1::PlanReply PlanOf(int client);

  ServedRun& run_;
  RemoteDownloads downloads_;
  std::atomic<uint64_t> sent_ = 0;
  // Below run_.mutex.
  std::map<int, Waiter> waiters_;
  bool dismissed_ = false;
  std::shared_ptr<const Content> trained_;  // the model at the end
  v1::PlanReply finished_;                  // and how clients are told of it
};

}  // namespace kindred

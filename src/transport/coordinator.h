// A round over a network, without the network: whom it waits for, what it hands out and takes in.
//
// Calls come from any thread; none of them blocks for long. What a call cannot answer at once it
// answers by the function it was given.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/audit_log.h"
#include "transport/open_round.h"
#include "transport/roster.h"
#include "transport/server_options.h"
#include "transport/transport.h"
#include "transport/uploads.h"

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

// One of the streams that bring an upload.
struct UploadStream {
  std::shared_ptr<IncomingUpload> upload;  // null: it was accepted before, nothing is to be sent
  int turn = 0;
};

class Coordinator : public Transport {
 public:
  // `members`: of the checkpoint that the run goes on from. `stop`: leave by Interrupted when set.
  Coordinator(const CoordinatorOptions& options, RunOffer offer, Members members, Enrolled enrolled,
              const std::atomic<bool>& stop, std::function<void(const AuditEvent&)> audit);

  // --- what clients ask for; each throws Refused
  v1::JoinReply Join(const Caller& caller, const v1::JoinRequest& request);
  void WaitForPlan(const Caller& caller, const v1::PlanRequest& request,
                   std::function<void(const v1::PlanReply&)> answer);
  std::shared_ptr<const Content> ContentOf(const Caller& caller,
                                           const v1::DownloadRequest& request);
  v1::UploadReply UploadStatus(const Caller& caller, const v1::UploadKey& key);
  void Leave(const Caller& caller, const v1::LeaveRequest& request);

  // Begins an upload or goes on with one. `admitted` is called when there is room for its bytes,
  // which may be at once; before that none may be added.
  UploadStream BeginUpload(const Caller& caller, const v1::UploadBegin& begin,
                           std::function<void()> admitted);
  // The next bytes. True: they were the last.
  bool AddBytes(const UploadStream& stream, std::string_view bytes);
  // Hands a whole upload to the round. `done` gets the refusal, or nothing.
  void EndUpload(const UploadStream& stream,
                 std::function<void(const std::optional<Refused>&)> done);
  // The stream broke: what has come is kept as long as there is room.
  void ParkUpload(UploadStream stream);

  // Answers those who have waited for long. To be called a few times a second.
  void Tick();

  // Bytes a second that an upload must make while others wait for its room; 0: nobody does.
  double NeededRate() const;

  // Throws Refused unless the caller is a member in good standing: before anything of it is read.
  void CheckMayUpload(const Caller& caller);

  // A member's upload was refused before it came here.
  void CountAgainst(const Caller& caller, const Refused& why);

  // Answers everybody: nobody is made to wait from now on.
  void Dismiss();

  // --- Transport
  std::vector<int> Available() override;
  std::optional<Traffic> Run(const PlanFor& plan_for, const Chosen& chosen,
                             const OnArrival& on_arrival) override;

  // Hands out the trained model until every client has it, or for so long as options say.
  void Finish(const NamedTensors& model);

  Members CurrentMembers() const;

 private:
  using Clock = std::chrono::steady_clock;
  using Later = std::vector<std::function<void()>>;  // to be called without the lock

  struct Waiter {
    Clock::time_point since;
    std::function<void(const v1::PlanReply&)> answer;
  };
  struct Ready {
    std::shared_ptr<IncomingUpload> upload;
    std::function<void(const std::optional<Refused>&)> done;
  };

  v1::JoinReply Offer(const Caller& caller) const;
  void Hear(const Caller& caller, const std::string& run);
  OpenRound& RoundOn();
  bool CanTrain(int client) const { return round_ && round_->CanTrain(client); }
  Content BankOf(int client, std::unique_lock<std::mutex>& lock);
  v1::PlanReply PlanOf(int client, std::unique_lock<std::mutex>& lock);
  void AnswerWaiters(std::unique_lock<std::mutex>& lock);
  void Admit(Later& later);
  void Drop(RoundPart& part);
  RoundPart* PartBy(const UploadStream& stream);
  void Take(Ready& ready, const OnArrival& on_arrival, std::unique_lock<std::mutex>& lock);
  void Strike(int client, const Refused& why);
  void Alarm(int round, const std::string& detail);
  enum class Stand { kOpen, kEnough, kTooFew };
  Stand StandOf(const Chosen& chosen, Clock::time_point since) const;
  std::vector<int> WaitedFor(const Chosen& chosen, Clock::time_point since) const;
  void Close(const std::vector<int>& waited_for, std::unique_lock<std::mutex>& lock);

  CoordinatorOptions options_;
  RunOffer offer_;
  Enrolled enrolled_;
  const std::atomic<bool>& stop_;
  std::function<void(const AuditEvent&)> audit_;

  mutable std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  Roster roster_;
  std::optional<OpenRound> round_;
  int busy_ = 0;  // calls of plan_for under way
  std::map<int, Waiter> waiters_;
  std::deque<Ready> ready_;
  bool dismissed_ = false;
  std::shared_ptr<UploadMemory> memory_;
  UploadLine line_;
  Later woken_;  // of those that need not wait any longer
  // Bytes of banks on their way out. Shared with what holds them.
  std::shared_ptr<std::atomic<uint64_t>> banks_ = std::make_shared<std::atomic<uint64_t>>(0);
  Traffic traffic_;  // of the round
  std::atomic<uint64_t> received_ = 0;
  std::shared_ptr<const Content> final_;
  std::string final_digest_;
  std::set<int> has_model_;  // that the trained model is safe with
};

}  // namespace kindred

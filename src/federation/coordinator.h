// A round over a network, without the network: whom it waits for, what it hands out and takes in.
//
// Calls come from any thread; none of them blocks for long. What a call cannot answer at once it
// answers by the function it was given.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "federation/plan_desk.h"
#include "federation/round_clock.h"
#include "federation/served_run.h"
#include "federation/upload_desk.h"
#include "transport/transport.h"

namespace kindred {

class Coordinator : public Transport {
 public:
  // `members`: of the checkpoint that the run goes on from. `stop`: leave by Interrupted when set.
  Coordinator(const CoordinatorOptions& options, RunOffer offer, Members members, Enrolled enrolled,
              const std::atomic<bool>& stop, std::function<void(const AuditEvent&)> audit);

  // --- what clients ask for; each throws Refused
  v1::JoinReply Join(const Caller& caller, const v1::JoinRequest& request);
  void WaitForPlan(const Caller& caller, const v1::PlanRequest& request, PlanAnswer answer) {
    plans_.WaitForPlan(caller, request, std::move(answer));
  }
  Handout ContentOf(const Caller& caller, const v1::DownloadRequest& request) {
    return plans_.ContentOf(caller, request);
  }
  v1::UploadReply UploadStatus(const Caller& caller, const v1::UploadKey& key) {
    return uploads_.Status(caller, key);
  }
  void Leave(const Caller& caller, const v1::LeaveRequest& request);

  // Begins an upload or goes on with one. `admitted` is called when there is room for its bytes,
  // which may be at once; before that none may be added.
  UploadStream BeginUpload(const Caller& caller, const v1::UploadBegin& begin,
                           std::function<void()> admitted) {
    return uploads_.Begin(caller, begin, std::move(admitted));
  }
  // The next bytes. True: they were the last.
  bool AddBytes(const UploadStream& stream, std::string_view bytes) {
    return uploads_.AddBytes(stream, bytes);
  }
  // Hands a whole upload to the round. `done` gets the refusal, or nothing.
  void EndUpload(const UploadStream& stream, UploadAnswer done) {
    uploads_.End(stream, std::move(done));
  }
  // The stream broke: what has come is kept as long as there is room.
  void ParkUpload(UploadStream stream) { uploads_.Park(std::move(stream)); }

  // Throws Refused unless the caller is a member in good standing: before anything of it is read.
  void CheckMayUpload(const Caller& caller);

  // A member's upload was refused before it came here.
  void CountAgainst(const Caller& caller, const Refused& why) {
    uploads_.CountAgainst(caller, why);
  }

  // Bytes a second that an upload must make while others wait for its room; 0: nobody does.
  double NeededRate() const { return uploads_.NeededRate(); }

  // Answers those who have waited for long. To be called a few times a second.
  void Tick();

  // Answers everybody: nobody is made to wait from now on.
  void Dismiss() { plans_.Dismiss(); }

  // --- Transport
  std::vector<int> Available() override;
  std::optional<Traffic> Run(const PlanFor& plan_for, const Chosen& chosen,
                             Intake& intake) override;

  // Hands out the trained model until every client has it, or for so long as options say.
  void Finish(const NamedTensors& model);

  Members CurrentMembers() const;
  int64_t ImagesOf(int client) const;  // of a member

 private:
  using Clock = std::chrono::steady_clock;

  struct RoundEnd {
    RoundStatus status;
    std::vector<int> waited_for;
  };

  v1::JoinReply Offer(const Caller& caller) const;
  RoundEnd TakeUploads(const RoundClock& clock, Intake& intake);
  void Deliver(WholeUpload& whole, Intake& intake);
  Verdict Judge(IncomingUpload& upload, Intake& intake) const;
  std::optional<Refused> TakeIn(IncomingUpload& upload, Intake& intake) const;
  int Close(const std::vector<int>& waited_for);
  bool AllHaveModel(const EnrolledNames& enrolled) const;

  ServedRun run_;
  PlanDesk plans_;
  UploadDesk uploads_;
  std::set<int> has_model_;  // that the trained model is safe with; below run_.mutex
};

}  // namespace kindred

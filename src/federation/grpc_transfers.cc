#include "federation/grpc_transfers.h"

#include <algorithm>

#include "federation/pace.h"

namespace kindred {

namespace {

const Refused kTooSlow = {Refusal::kSlow,
                          "below server.min_rate, or below what others who wait need"};
const Refused kOver = {Refusal::kRound, "its round is over"};

// Writes a chunk after the other.
class Downloading final : public grpc::ServerWriteReactor<v1::Chunk> {
 public:
  Downloading(GrpcCalls& calls, grpc::CallbackServerContext* context,
              const v1::DownloadRequest& request)
      : calls_(calls),
        request_(request),
        context_(context),
        paced_([context] { context->TryCancel(); }, false) {
    calls_.pace.Add(&paced_);
    try {
      caller_ = calls_.CallerOf(*context, caller_.name);
      counted_ = calls_.downloads.Enter(caller_.place);
      handout_ = calls_.coordinator.ContentOf(caller_, request_);
      if (handout_.over) calls_.pace.EndWith(&paced_, handout_.over);
      next_ = request_.offset();
      Write();
    } catch (const Refused& why) {
      Finish(calls_.Refuse(*context, why, caller_.name));
    } catch (const std::exception& error) {
      Finish(Failure(error));
    }
  }

  void OnWriteDone(bool ok) override {
    if (!ok) {
      Finish(IsOver()     ? calls_.Refuse(*context_, kOver, caller_.name)
             : paced_.cut ? calls_.Refuse(*context_, kTooSlow, caller_.name)
                          : grpc::Status(grpc::StatusCode::CANCELLED, "the client is gone"));
      return;
    }
    paced_.moved += chunk_.data().size();
    if (IsOver()) {
      Finish(calls_.Refuse(*context_, kOver, caller_.name));
      return;
    }
    try {
      Write();
    } catch (const std::exception& error) {
      Finish(Failure(error));
    }
  }

  void OnDone() override {
    calls_.pace.Remove(&paced_);
    if (counted_) calls_.downloads.Leave(caller_.place);
    delete this;
  }

 private:
  bool IsOver() const { return handout_.over && *handout_.over; }

  void Write() {
    const Content& content = *handout_.content;
    if (next_ == content.size()) {
      Finish(grpc::Status::OK);
      return;
    }
    const uint64_t size = std::min(NextChunk(next_ - request_.offset()), content.size() - next_);
    std::string& data = *chunk_.mutable_data();
    data.resize(size);
    content.Read(next_, std::span(reinterpret_cast<uint8_t*>(data.data()), size));
    next_ += size;
    StartWrite(&chunk_);
  }

  GrpcCalls& calls_;
  v1::DownloadRequest request_;
  grpc::CallbackServerContext* context_;
  Paced paced_;
  Caller caller_;
  Handout handout_;
  uint64_t next_ = 0;
  bool counted_ = false;
  v1::Chunk chunk_;
};

// Reads an upload's parts. Lives until gRPC is done with it; what the coordinator calls later
// holds it too.
class Uploading final : public grpc::ServerReadReactor<v1::UploadPart> {
 public:
  Uploading(GrpcCalls& calls, grpc::CallbackServerContext* context, v1::UploadReply* reply)
      : calls_(calls),
        context_(context),
        paced_([context] { context->TryCancel(); }, true),
        reply_(reply) {}

  void Begin(const std::shared_ptr<Uploading>& self) {
    self_ = self;
    calls_.pace.Add(&paced_);
    try {
      caller_ = calls_.CallerOf(*context_, caller_.name);
      calls_.coordinator.CheckMayUpload(caller_);
      counted_ = calls_.uploads.Enter(caller_.place);
      StartRead(&part_);
    } catch (const Refused& why) {
      End(calls_.Refuse(*context_, why, caller_.name));
    } catch (const std::exception& error) {
      End(Failure(error));
    }
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      Park();
      End(paced_.cut ? calls_.Refuse(*context_, kTooSlow, caller_.name)
                     : grpc::Status(grpc::StatusCode::ABORTED, "the stream ended early"));
      return;
    }
    try {
      calls_.Account(*context_, part_.ByteSizeLong());
      if (!begun_) {
        BeginUpload();
      } else {
        AddData();
      }
    } catch (const Refused& why) {
      Park();
      End(calls_.Refuse(*context_, why, caller_.name));
    } catch (const std::exception& error) {
      Park();
      End(Failure(error));
    }
  }

  void OnCancel() override {
    // While the coordinator looks at a whole upload nothing is to be done; else nobody reads.
    const std::lock_guard lock(mutex_);
    if (!waits_for_room_) return;
    waits_for_room_ = false;
    Park();
    EndLocked({grpc::StatusCode::CANCELLED, "the client is gone"});
  }

  void OnDone() override {
    calls_.pace.Remove(&paced_);
    if (counted_) calls_.uploads.Leave(caller_.place);
    self_.reset();
  }

 private:
  void BeginUpload() {
    if (part_.part_case() != v1::UploadPart::kBegin) {
      Misbehaved({Refusal::kManifest, "an upload begins with its header"});
    }
    begun_ = true;
    paced_.waiting = true;
    bool admitted_now = false;
    {
      const std::lock_guard lock(mutex_);
      beginning_ = true;
    }
    const auto self = self_;
    const UploadStream stream =
        calls_.coordinator.BeginUpload(caller_, part_.begin(), [self] { self->Admitted(); });
    const std::lock_guard lock(mutex_);
    beginning_ = false;
    stream_ = stream;
    if (!stream.upload) {
      reply_->set_accepted(true);
      EndLocked(grpc::Status::OK);
      return;
    }
    admitted_now = std::exchange(admitted_early_, false);
    if (admitted_now) {
      StartReading();
    } else {
      waits_for_room_ = true;
      if (context_->IsCancelled()) {
        waits_for_room_ = false;
        Park();
        EndLocked({grpc::StatusCode::CANCELLED, "the client is gone"});
      }
    }
  }

  // There is room for the bytes: they may come.
  void Admitted() {
    const std::lock_guard lock(mutex_);
    if (beginning_) {
      admitted_early_ = true;  // BeginUpload has not returned yet
      return;
    }
    if (!waits_for_room_) return;
    waits_for_room_ = false;
    StartReading();
  }

  void StartReading() {
    if (ended_) return;
    paced_.waiting = false;
    StartSendInitialMetadata();  // the client may send now
    StartRead(&part_);
  }

  void AddData() {
    if (part_.part_case() != v1::UploadPart::kData) {
      Misbehaved({Refusal::kSize, "after the header come bytes"});
    }
    paced_.moved += part_.data().size();
    if (!calls_.coordinator.AddBytes(stream_, part_.data())) {
      StartRead(&part_);
      return;
    }
    paced_.waiting = true;
    const UploadStream stream = std::exchange(stream_, {});
    const auto self = self_;
    calls_.coordinator.EndUpload(stream, [self](const std::optional<Refused>& why) {
      if (why) {
        self->End(StatusOf(*self->context_, *why));  // the coordinator has logged it
      } else {
        self->reply_->set_accepted(true);
        self->End(grpc::Status::OK);
      }
    });
  }

  [[noreturn]] void Misbehaved(const Refused& why) {
    calls_.coordinator.CountAgainst(caller_, why);
    throw why;
  }

  // Throws nothing, as handlers that end a call must not.
  void Park() {
    try {
      if (stream_.upload) calls_.coordinator.ParkUpload(std::exchange(stream_, {}));
    } catch (const std::exception& error) {
      Failure(error);
    }
  }

  void End(const grpc::Status& status) {
    const std::lock_guard lock(mutex_);
    EndLocked(status);
  }

  void EndLocked(const grpc::Status& status) {
    if (ended_) return;
    ended_ = true;
    Finish(status);
  }

  GrpcCalls& calls_;
  grpc::CallbackServerContext* context_;
  Paced paced_;
  v1::UploadReply* reply_;
  std::shared_ptr<Uploading> self_;
  Caller caller_;
  v1::UploadPart part_;
  UploadStream stream_;
  bool begun_ = false, counted_ = false;
  std::mutex mutex_;  // of all below
  bool beginning_ = false, admitted_early_ = false, waits_for_room_ = false, ended_ = false;
};

}  // namespace

grpc::ServerWriteReactor<v1::Chunk>* StartDownload(GrpcCalls& calls,
                                                   grpc::CallbackServerContext* context,
                                                   const v1::DownloadRequest& request) {
  return new Downloading(calls, context, request);
}

grpc::ServerReadReactor<v1::UploadPart>* StartUpload(GrpcCalls& calls,
                                                     grpc::CallbackServerContext* context,
                                                     v1::UploadReply* reply) {
  const auto reactor = std::make_shared<Uploading>(calls, context, reply);
  reactor->Begin(reactor);
  return reactor.get();
}

}  // namespace kindred

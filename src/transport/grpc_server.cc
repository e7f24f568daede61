#include "transport/grpc_server.h"

#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <malloc.h>

#include "base/error.h"
#include "base/log.h"
#include "base/name.h"
#include "base/parallel.h"
#include "federation.grpc.pb.h"
#include "transport/grpc_log.h"
#include "transport/pace.h"

namespace kindred {

namespace {

constexpr auto kTick = std::chrono::milliseconds(250);
constexpr int kMostMetadata = 8 << 10;
constexpr int kMostHeader = 64 << 10;  // of a message, beside its chunk
constexpr int kMostUploads = 2;    // of one client at a time: one that goes on, one that was cut
constexpr int kMostDownloads = 4;  // model and bank, likewise
constexpr uint64_t kWireMemory = 256 << 20;  // bytes in gRPC's buffers; beyond, it cuts streams
const Refused kTooSlow = {"slow", "below server.min_rate, or below what others who wait need"};
constexpr char kReasonKey[] = "kindred-reason";

grpc::StatusCode CodeOf(const std::string& reason) {
  if (reason == "identity") return grpc::StatusCode::UNAUTHENTICATED;
  if (reason == "revoked" || reason == "strikes") return grpc::StatusCode::PERMISSION_DENIED;
  if (reason == "duplicate") return grpc::StatusCode::ALREADY_EXISTS;
  if (reason == "busy") return grpc::StatusCode::RESOURCE_EXHAUSTED;
  if (reason == "slow") return grpc::StatusCode::ABORTED;
  if (IsStrike(reason)) return grpc::StatusCode::INVALID_ARGUMENT;
  return grpc::StatusCode::FAILED_PRECONDITION;
}

// What is nobody's fault outside: too little memory, most likely. The call fails, the rest goes on.
grpc::Status Failure(const std::exception& error) {
  spdlog::error("a call failed: {}", Printable(error.what()));
  return {grpc::StatusCode::INTERNAL, "the coordinator failed at it"};
}

}  // namespace

// Each call finds out who asks, hands it to the coordinator, and turns a refusal into a status.
class GrpcServer::Service final : public v1::Federation::CallbackService {
 public:
  Service(Coordinator& coordinator, Enrolments& enrolments, bool tls, const WireLimits& limits,
          std::function<void(const AuditEvent&)> audit)
      : coordinator_(coordinator),
        enrolments_(enrolments),
        tls_(tls),
        pace_(limits),
        audit_(std::move(audit)) {}

  grpc::ServerUnaryReactor* Join(grpc::CallbackServerContext* context,
                                 const v1::JoinRequest* request, v1::JoinReply* reply) override {
    return Answer(context,
                  [&](const Caller& caller) { *reply = coordinator_.Join(caller, *request); });
  }

  grpc::ServerUnaryReactor* WaitForPlan(grpc::CallbackServerContext* context,
                                        const v1::PlanRequest* request,
                                        v1::PlanReply* reply) override {
    auto* reactor = context->DefaultReactor();
    std::string name;
    try {
      const Caller caller = CallerOf(*context, name);
      coordinator_.WaitForPlan(caller, *request, [reactor, reply](const v1::PlanReply& plan) {
        *reply = plan;
        reactor->Finish(grpc::Status::OK);
      });
    } catch (const Refused& why) {
      reactor->Finish(StatusOf(*context, why, name));
    } catch (const std::exception& error) {
      reactor->Finish(Failure(error));
    }
    return reactor;
  }

  grpc::ServerUnaryReactor* UploadStatus(grpc::CallbackServerContext* context,
                                         const v1::UploadKey* request,
                                         v1::UploadReply* reply) override {
    return Answer(context, [&](const Caller& caller) {
      *reply = coordinator_.UploadStatus(caller, *request);
    });
  }

  grpc::ServerUnaryReactor* Leave(grpc::CallbackServerContext* context,
                                  const v1::LeaveRequest* request, v1::LeaveReply*) override {
    return Answer(context, [&](const Caller& caller) { coordinator_.Leave(caller, *request); });
  }

  grpc::ServerWriteReactor<v1::Chunk>* Download(grpc::CallbackServerContext* context,
                                                const v1::DownloadRequest* request) override {
    return new Downloading(*this, context, *request);
  }

  grpc::ServerReadReactor<v1::UploadPart>* Upload(grpc::CallbackServerContext* context,
                                                  v1::UploadReply* reply) override {
    const auto reactor = std::make_shared<Uploading>(*this, context, reply);
    reactor->Begin(reactor);
    return reactor.get();
  }

  void Dismiss() { coordinator_.Dismiss(); }

  void Tick() {
    coordinator_.Tick();
    pace_.Look(coordinator_.NeededRate());
  }

 private:
  // Who asks: what the certificate says, and on a plain-text loopback the name that is given.
  // `known` is the name as soon as there is one, for the log of a refusal.
  Caller CallerOf(const grpc::CallbackServerContext& context, std::string& known) const {
    FoundEnrolment found;
    if (tls_) {
      const auto properties = context.auth_context()->FindPropertyValues("x509_pem_cert");
      if (properties.size() != 1) throw Refused{"identity", "no certificate"};
      found = enrolments_.Find(std::string(properties[0].data(), properties[0].size()));
    } else {
      const auto names = context.client_metadata().equal_range("kindred-name");
      if (names.first == names.second) throw Refused{"identity", "no name"};
      const std::string name(names.first->second.data(), names.first->second.size());
      if (!IsName(name)) throw Refused{"identity", "not a name"};
      found = enrolments_.ByName(name);
    }
    known = found.enrolment.name;
    if (found.state == EnrolmentState::kRevoked) {
      throw Refused{"revoked", "this certificate was revoked; ask for a new kit"};
    }
    if (found.state != EnrolmentState::kValid) {
      throw Refused{"identity", "nobody of this federation; ask for a kit"};
    }
    return {found.enrolment.place, found.enrolment.name, found.enrolment.images};
  }

  // The status of a refusal, which leaves its mark in the audit log.
  grpc::Status StatusOf(grpc::CallbackServerContext& context, const Refused& why,
                        const std::string& name) {
    context.AddTrailingMetadata(kReasonKey, why.reason);
    // What every late or waiting client meets is no news.
    if (why.reason != "busy" && why.reason != "offset") {
      audit_({.event = "refuse", .client = name, .reason = why.reason, .detail = why.message});
    }
    return {CodeOf(why.reason), fmt::format("{}: {}", why.reason, why.message)};
  }

  // The transfers of each client that are under way.
  class Transfers {
   public:
    Transfers(const char* what, int most) : what_(what), most_(most) {}
    bool Enter(int client) {
      const std::lock_guard lock(mutex_);
      if (count_[client] >= most_) {
        throw Refused{"busy", fmt::format("this client's {} before it have not ended yet", what_)};
      }
      ++count_[client];
      return true;
    }
    void Leave(int client) {
      const std::lock_guard lock(mutex_);
      if (--count_[client] == 0) count_.erase(client);
    }

   private:
    const char* what_;
    int most_;
    std::mutex mutex_;
    std::map<int, int> count_;
  };

  template <class Work>
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context, const Work& work) {
    auto* reactor = context->DefaultReactor();
    std::string name;
    try {
      const Caller caller = CallerOf(*context, name);
      work(caller);
      reactor->Finish(grpc::Status::OK);
    } catch (const Refused& why) {
      reactor->Finish(StatusOf(*context, why, name));
    } catch (const std::exception& error) {
      reactor->Finish(Failure(error));
    }
    return reactor;
  }

  // Writes a chunk after the other.
  class Downloading final : public grpc::ServerWriteReactor<v1::Chunk> {
   public:
    Downloading(Service& service, grpc::CallbackServerContext* context,
                const v1::DownloadRequest& request)
        : service_(service),
          request_(request),
          context_(context),
          paced_([context] { context->TryCancel(); }, false) {
      service_.pace_.Add(&paced_);
      try {
        caller_ = service_.CallerOf(*context, caller_.name);
        counted_ = service_.downloads_.Enter(caller_.place);
        content_ = service_.coordinator_.ContentOf(caller_, request_);
        next_ = request_.offset();
        Write();
      } catch (const Refused& why) {
        Finish(service_.StatusOf(*context, why, caller_.name));
      } catch (const std::exception& error) {
        Finish(Failure(error));
      }
    }

    void OnWriteDone(bool ok) override {
      if (!ok) {
        Finish(paced_.cut ? service_.StatusOf(*context_, kTooSlow, caller_.name)
                          : grpc::Status(grpc::StatusCode::CANCELLED, "the client is gone"));
        return;
      }
      paced_.moved += chunk_.data().size();
      Write();
    }

    void OnDone() override {
      service_.pace_.Remove(&paced_);
      if (counted_) service_.downloads_.Leave(caller_.place);
      delete this;
    }

   private:
    void Write() {
      if (next_ == content_->size()) {
        service_.coordinator_.Delivered(caller_, request_);
        Finish(grpc::Status::OK);
        return;
      }
      const uint64_t size =
          std::min(NextChunk(next_ - request_.offset()), content_->size() - next_);
      std::string& data = *chunk_.mutable_data();
      data.resize(size);
      content_->Read(next_, std::span(reinterpret_cast<uint8_t*>(data.data()), size));
      next_ += size;
      StartWrite(&chunk_);
    }

    Service& service_;
    v1::DownloadRequest request_;
    grpc::CallbackServerContext* context_;
    Paced paced_;
    Caller caller_;
    std::shared_ptr<const Content> content_;
    uint64_t next_ = 0;
    bool counted_ = false;
    v1::Chunk chunk_;
  };

  // Reads an upload's parts. Lives until gRPC is done with it; what the coordinator calls later
  // holds it too.
  class Uploading final : public grpc::ServerReadReactor<v1::UploadPart> {
   public:
    Uploading(Service& service, grpc::CallbackServerContext* context, v1::UploadReply* reply)
        : service_(service),
          context_(context),
          paced_([context] { context->TryCancel(); }, true),
          reply_(reply) {}

    void Begin(const std::shared_ptr<Uploading>& self) {
      self_ = self;
      service_.pace_.Add(&paced_);
      try {
        caller_ = service_.CallerOf(*context_, caller_.name);
        service_.coordinator_.CheckMayUpload(caller_);
        counted_ = service_.uploads_.Enter(caller_.place);
        StartRead(&part_);
      } catch (const Refused& why) {
        End(service_.StatusOf(*context_, why, caller_.name));
      }
    }

    void OnReadDone(bool ok) override {
      if (!ok) {
        Park();
        End(paced_.cut ? service_.StatusOf(*context_, kTooSlow, caller_.name)
                       : grpc::Status(grpc::StatusCode::ABORTED, "the stream ended early"));
        return;
      }
      try {
        if (!begun_) {
          BeginUpload();
        } else {
          AddData();
        }
      } catch (const Refused& why) {
        Park();
        End(service_.StatusOf(*context_, why, caller_.name));
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
      service_.coordinator_.ParkUpload(std::exchange(stream_, {}));
      EndLocked({grpc::StatusCode::CANCELLED, "the client is gone"});
    }

    void OnDone() override {
      service_.pace_.Remove(&paced_);
      if (counted_) service_.uploads_.Leave(caller_.place);
      self_.reset();
    }

   private:
    void BeginUpload() {
      if (part_.part_case() != v1::UploadPart::kBegin) {
        Misbehaved({"manifest", "an upload begins with its header"});
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
          service_.coordinator_.BeginUpload(caller_, part_.begin(), [self] { self->Admitted(); });
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
          service_.coordinator_.ParkUpload(std::exchange(stream_, {}));
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
        Misbehaved({"size", "after the header come bytes"});
      }
      paced_.moved += part_.data().size();
      if (!service_.coordinator_.AddBytes(stream_, part_.data())) {
        StartRead(&part_);
        return;
      }
      paced_.waiting = true;
      const UploadStream stream = std::exchange(stream_, {});
      const auto self = self_;
      service_.coordinator_.EndUpload(stream, [self](const std::optional<Refused>& why) {
        if (why) {
          self->context_->AddTrailingMetadata(kReasonKey, why->reason);
          self->End({CodeOf(why->reason), fmt::format("{}: {}", why->reason, why->message)});
        } else {
          self->reply_->set_accepted(true);
          self->End(grpc::Status::OK);
        }
      });
    }

    [[noreturn]] void Misbehaved(const Refused& why) {
      service_.coordinator_.CountAgainst(caller_, why);
      throw why;
    }

    void Park() {
      if (stream_.upload) service_.coordinator_.ParkUpload(std::exchange(stream_, {}));
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

    Service& service_;
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

  Coordinator& coordinator_;
  Enrolments& enrolments_;
  bool tls_;
  Pace pace_;
  std::function<void(const AuditEvent&)> audit_;
  Transfers uploads_{"uploads", kMostUploads};
  Transfers downloads_{"downloads", kMostDownloads};
};

namespace {

std::shared_ptr<grpc::ServerCredentials> CredentialsOf(const std::optional<ServerKit>& kit) {
  if (!kit) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = kit->ca;
  options.pem_key_cert_pairs = {{kit->key, kit->certificate}};
  return grpc::SslServerCredentials(options);
}

// Tensors get memory of their own, which goes back to the system with them: left to itself the heap
// grows round after round by models that are gone. A chunk stays below.
void ReturnLargeBlocks() { ::mallopt(M_MMAP_THRESHOLD, 4 << 20); }

void Limit(grpc::ServerBuilder& builder, const WireLimits& limits) {
  builder.SetMaxReceiveMessageSize(static_cast<int>(kMostChunk) + kMostHeader);
  builder.SetMaxSendMessageSize(static_cast<int>(kMostChunk) + kMostHeader);
  // Nobody's bytes are decompressed: a compressed message is refused.
  builder.AddChannelArgument(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1);
  builder.AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  // What a stream may send before it is read: uploads that wait for room hold no more than this.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, static_cast<int>(kMostChunk));
  builder.SetResourceQuota(grpc::ResourceQuota("kindred").Resize(kWireMemory));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, limits.streams);
  builder.AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMostMetadata);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                             static_cast<int>(limits.handshake * 1000));
  // A peer that is gone is noticed; one that floods with pings is cut.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, 20000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20000);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 10000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 2);
}

}  // namespace

struct GrpcServer::Parts {
  std::unique_ptr<Service> service;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor;
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<AcceptLoop> loop;
  std::unique_ptr<BackgroundThread> ticker;
};

GrpcServer::GrpcServer(const std::string& address, const std::optional<ServerKit>& kit,
                       const WireLimits& limits, Coordinator& coordinator, Enrolments& enrolments,
                       std::function<void(const AuditEvent&)> audit)
    : parts_(std::make_unique<Parts>()) {
  if (!kit && !IsLoopback(address)) {
    throw NetworkError(
        "{}: plain text is for this machine alone (127.0.0.1, ::1); leave out --plain-text",
        Printable(address));
  }
  QuietGrpc();
  RaiseDescriptorLimit();
  ReturnLargeBlocks();
  parts_->service =
      std::make_unique<Service>(coordinator, enrolments, kit.has_value(), limits, std::move(audit));
  grpc::ServerBuilder builder;
  Limit(builder, limits);
  builder.RegisterService(parts_->service.get());
  parts_->acceptor = builder.experimental().AddExternalConnectionAcceptor(
      grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD, CredentialsOf(kit));
  parts_->server = builder.BuildAndStart();
  if (!parts_->server) {
    throw NetworkError("gRPC does not start: the coordinator's key or certificate is not sound");
  }
  parts_->loop = std::make_unique<AcceptLoop>(
      address, limits.connections, [acceptor = parts_->acceptor.get()](int fd) {
        grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
        connection.fd = fd;
        acceptor->HandleNewConnection(&connection);
      });
  parts_->ticker = std::make_unique<BackgroundThread>(
      "coordinator", [service = parts_->service.get()](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          service->Tick();
          std::this_thread::sleep_for(kTick);
        }
      });
}

GrpcServer::~GrpcServer() {
  parts_->loop.reset();
  parts_->service->Dismiss();
  parts_->server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(20));
  parts_->ticker.reset();
  parts_->server.reset();
}

std::string GrpcServer::address() const { return parts_->loop->address(); }

AcceptCounts GrpcServer::connections() const { return parts_->loop->counts(); }

}  // namespace kindred

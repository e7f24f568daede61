#include "federation/grpc_server.h"

#include <grpcpp/grpcpp.h>
#include <malloc.h>

#include "base/error.h"
#include "base/parallel.h"
#include "federation/grpc_calls.h"
#include "federation/grpc_log.h"
#include "federation/grpc_transfers.h"

namespace kindred {

namespace {

constexpr auto kTick = std::chrono::milliseconds(250);
constexpr int kMostMetadata = 8 << 10;
constexpr int kMostHeader = 64 << 10;        // of a message, beside its chunk
constexpr uint64_t kWireMemory = 256 << 20;  // bytes in gRPC's buffers; beyond, it cuts streams

}  // namespace

// Each call finds out who asks, hands it to the coordinator, and turns a refusal into a status.
class GrpcServer::Service final : public v1::Federation::CallbackService {
 public:
  Service(Coordinator& coordinator, Enrolments& enrolments, bool tls, const WireLimits& limits,
          std::function<void(const AuditEvent&)> audit)
      : calls_(coordinator, enrolments, tls, limits, std::move(audit)) {}

  grpc::ServerUnaryReactor* Join(grpc::CallbackServerContext* context,
                                 const v1::JoinRequest* request, v1::JoinReply* reply) override {
    return Answer(
        context, [&](const Caller& caller) { *reply = calls_.coordinator.Join(caller, *request); });
  }

  grpc::ServerUnaryReactor* WaitForPlan(grpc::CallbackServerContext* context,
                                        const v1::PlanRequest* request,
                                        v1::PlanReply* reply) override {
    auto* reactor = context->DefaultReactor();
    std::string name;
    try {
      const Caller caller = calls_.CallerOf(*context, name);
      calls_.coordinator.WaitForPlan(caller, *request, [reactor, reply](const v1::PlanReply& plan) {
        *reply = plan;
        reactor->Finish(grpc::Status::OK);
      });
    } catch (const Refused& why) {
      reactor->Finish(calls_.Refuse(*context, why, name));
    } catch (const std::exception& error) {
      reactor->Finish(Failure(error));
    }
    return reactor;
  }

  grpc::ServerUnaryReactor* UploadStatus(grpc::CallbackServerContext* context,
                                         const v1::UploadKey* request,
                                         v1::UploadReply* reply) override {
    return Answer(context, [&](const Caller& caller) {
      *reply = calls_.coordinator.UploadStatus(caller, *request);
    });
  }

  grpc::ServerUnaryReactor* Leave(grpc::CallbackServerContext* context,
                                  const v1::LeaveRequest* request, v1::LeaveReply*) override {
    return Answer(context,
                  [&](const Caller& caller) { calls_.coordinator.Leave(caller, *request); });
  }

  grpc::ServerWriteReactor<v1::Chunk>* Download(grpc::CallbackServerContext* context,
                                                const v1::DownloadRequest* request) override {
    return StartDownload(calls_, context, *request);
  }

  grpc::ServerReadReactor<v1::UploadPart>* Upload(grpc::CallbackServerContext* context,
                                                  v1::UploadReply* reply) override {
    return StartUpload(calls_, context, reply);
  }

  AcceptNews News() {
    return {.refused = [this](Refusal reason) { calls_.ConnectionRefused(reason); },
            .opened = [this](const Peer& peer) { calls_.connections.Open(peer); },
            .closed = [this](const Peer& peer) { calls_.ConnectionEnded(peer); },
            .accounted = [this](const Peer& peer) { return calls_.connections.Accounted(peer); }};
  }

  // Connections that are to be closed now.
  std::vector<Peer> DueConnections() { return calls_.connections.Due(Connections::Clock::now()); }

  void Dismiss() { calls_.coordinator.Dismiss(); }

  void Tick() {
    calls_.coordinator.Tick();
    calls_.pace.Look(calls_.coordinator.NeededRate());
  }

 private:
  template <class Work>
  grpc::ServerUnaryReactor* Answer(grpc::CallbackServerContext* context, const Work& work) {
    auto* reactor = context->DefaultReactor();
    std::string name;
    try {
      const Caller caller = calls_.CallerOf(*context, name);
      work(caller);
      reactor->Finish(grpc::Status::OK);
    } catch (const Refused& why) {
      reactor->Finish(calls_.Refuse(*context, why, name));
    } catch (const std::exception& error) {
      reactor->Finish(Failure(error));
    }
    return reactor;
  }

  GrpcCalls calls_;
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

int Milliseconds(double seconds) { return static_cast<int>(seconds * 1000); }

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
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, Milliseconds(limits.handshake));
  // Who was revoked meanwhile has to show its certificate again.
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, Milliseconds(limits.idle));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, Milliseconds(limits.age));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, Milliseconds(limits.age));
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
      address, limits.connections,
      [acceptor = parts_->acceptor.get()](int fd) {
        grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
        connection.fd = fd;
        acceptor->HandleNewConnection(&connection);
      },
      parts_->service->News());
  parts_->ticker = std::make_unique<BackgroundThread>(
      "coordinator",
      [service = parts_->service.get(), loop = parts_->loop.get()](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          service->Tick();
          for (const Peer& peer : service->DueConnections()) loop->Cut(peer);
          std::this_thread::sleep_for(kTick);
        }
      });
}

// The ticker uses the loop, and calls under way need the ticker until the server is down.
GrpcServer::~GrpcServer() {
  parts_->loop->Close();
  parts_->service->Dismiss();
  parts_->server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(20));
  parts_->ticker.reset();
  parts_->loop.reset();
  parts_->server.reset();
}

std::string GrpcServer::address() const { return parts_->loop->address(); }

}  // namespace kindred

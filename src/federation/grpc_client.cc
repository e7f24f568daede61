#include "federation/grpc_client.h"

#include <grpcpp/grpcpp.h>
#include <sodium.h>

#include <algorithm>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "base/parallel.h"
#include "client/round.h"
#include "federation.grpc.pb.h"
#include "federation/accept_loop.h"
#include "federation/grpc_log.h"
#include "wire/wire.h"

namespace kindred {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr double kFirstPause = 0.2, kMostPause = 5;     // seconds between two tries
constexpr auto kCallTime = std::chrono::seconds(60);    // of a short call, waiting for a plan too
constexpr auto kStatusTime = std::chrono::seconds(10);  // cannot be cut by a stop
constexpr auto kTransferTime = std::chrono::hours(24);  // links that die are noticed by keepalive

// Tells two processes of one client apart.
std::string DrawnProcess() {
  return std::to_string(randombytes_random()) + "-" + std::to_string(randombytes_random());
}

// What the status of a call means to its caller.
enum class CallEnd { kDone, kAgain, kRefused };

CallEnd OutcomeOf(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
      return CallEnd::kDone;
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::ABORTED:
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
    case grpc::StatusCode::INTERNAL:  // what HTTP/2 makes of a broken stream
    case grpc::StatusCode::UNKNOWN:
      return CallEnd::kAgain;
    default:
      return CallEnd::kRefused;
  }
}

// The coordinator's reason for a refusal; nullopt: it gave none. A word that this program does not
// know is of a newer coordinator: the call is too late, as of a round that is over.
std::optional<Refusal> ReasonOf(const grpc::ClientContext& context) {
  const auto& trailer = context.GetServerTrailingMetadata();
  const auto at = trailer.find("kindred-reason");
  if (at == trailer.end()) return std::nullopt;
  return RefusalOf({at->second.data(), at->second.size()}).value_or(Refusal::kRound);
}

double RandomShare() { return 0.5 + 0.5 * randombytes_uniform(1024) / 1024.0; }

std::shared_ptr<grpc::Channel> Dial(const WireClientOptions& options,
                                    const std::optional<Kit>& kit) {
  QuietGrpc();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(2 << 20);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 200);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5000);  // what a connection may take, too
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 20000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20000);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  if (!kit) {
    if (!IsLoopback(options.server)) {
      throw NetworkError("{}: plain text is for this machine alone; leave out --plain-text",
                         Printable(options.server));
    }
    return grpc::CreateCustomChannel(options.server, grpc::InsecureChannelCredentials(), arguments);
  }
  // The federation has its own authority: whatever the address, the coordinator has this name.
  arguments.SetSslTargetNameOverride("kindred-coordinator");
  return grpc::CreateCustomChannel(
      options.server, grpc::SslCredentials({kit->ca, kit->key, kit->certificate}), arguments);
}

}  // namespace

// A call at a time, which the stop flag ends.
struct GrpcClient::Wire {
  // Says who calls, where certificates do not, and which of a client's processes.
  void Introduce(grpc::ClientContext& context) const {
    if (!options.name.empty()) context.AddMetadata("kindred-name", options.name);
    context.AddMetadata("kindred-process", process);
  }

  Wire(const WireClientOptions& from, const std::optional<Kit>& kit,
       const std::atomic<bool>& stop_flag)
      : options(from),
        stop(stop_flag),
        channel(Dial(from, kit)),
        stub(v1::Federation::NewStub(channel)),
        watcher("join", [this](const std::stop_token& done) {
          while (!done.stop_requested()) {
            if (stop) {
              const std::lock_guard lock(mutex);
              if (current != nullptr) current->TryCancel();
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(100));
          }
        }) {}

  // One call, which the watcher may cancel.
  grpc::Status CallOnce(grpc::ClientContext& context, std::chrono::seconds time,
                        const std::function<grpc::Status(grpc::ClientContext&)>& call) {
    context.set_deadline(std::chrono::system_clock::now() + time);
    Introduce(context);
    {
      const std::lock_guard lock(mutex);
      current = &context;
    }
    const grpc::Status status = call(context);
    {
      const std::lock_guard lock(mutex);
      current = nullptr;
    }
    if (stop && !status.ok()) throw Interrupted{};
    return status;
  }

  // Makes a call until it succeeds or is refused. `call` gets a context and returns its status; a
  // call that has got something across, as `moved` tells, or was told that the coordinator is busy
  // begins the count of patience anew.
  // Returns the reason of a refusal, nullopt when there was none.
  std::optional<Refusal> Repeat(
      const char* what, std::chrono::seconds time,
      const std::function<grpc::Status(grpc::ClientContext&)>& call,
      const std::function<uint64_t()>& moved = [] { return 0; }) {
    auto since = SteadyClock::now();
    double pause = kFirstPause;
    uint64_t before = moved();
    bool told = false;
    while (true) {
      Connect();
      if (stop) throw Interrupted{};
      grpc::ClientContext context;
      const grpc::Status status = CallOnce(context, time, call);
      const CallEnd outcome = OutcomeOf(status);
      if (outcome == CallEnd::kDone) {
        if (told) spdlog::info("the coordinator is back");
        return std::nullopt;
      }
      const auto reason = ReasonOf(context);
      message = Printable(status.error_message());
      if (outcome == CallEnd::kRefused) {
        if (!reason || KindOf(*reason).for_good) {
          throw NetworkError("{}: {}: {}", options.server, what, message);
        }
        return reason;
      }
      if (message.find("certificate verify failed") != std::string::npos) {  // it does not heal
        throw NetworkError(
            "{}: its certificate is not of this kit's authority; `kindred doctor` looks, or ask "
            "for a new kit",
            options.server);
      }
      if (const uint64_t now = moved(); now != before) {
        before = now;
        since = SteadyClock::now();
        pause = kFirstPause;
      }
      if (reason == Refusal::kBusy) since = SteadyClock::now();  // it is there, and has no room yet
      const double seconds = std::chrono::duration<double>(SteadyClock::now() - since).count();
      if (seconds > options.patience) {
        throw NetworkError(
            "{}: {}: out of reach for {:.0f} s ({}); is it running, and do address, firewall and "
            "certificates fit? `kindred doctor` looks",
            options.server, what, seconds, message);
      }
      if (!told && reason != Refusal::kBusy) {
        spdlog::warn("{}: {}: {}; trying again", options.server, what, message);
        told = true;
      }
      Pause(pause * RandomShare());
      pause = std::min(kMostPause, pause * 2);
    }
  }

  // Gives a connection some time: it is only made while somebody waits for it. Without one the call
  // that follows fails, and says why.
  void Connect() const {
    for (int turn = 0; turn < 25 && !stop; ++turn) {
      const auto until = std::chrono::system_clock::now() + std::chrono::milliseconds(200);
      if (channel->WaitForConnected(until)) return;
      if (channel->GetState(false) == GRPC_CHANNEL_TRANSIENT_FAILURE) return;
    }
  }

  void Pause(double seconds) const {
    const auto until = SteadyClock::now() + std::chrono::duration<double>(seconds);
    while (!stop && SteadyClock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  WireClientOptions options;
  const std::string process = DrawnProcess();
  const std::atomic<bool>& stop;
  std::shared_ptr<grpc::Channel> channel;
  std::unique_ptr<v1::Federation::Stub> stub;
  std::string message;  // of the last status that was not OK
  std::mutex mutex;     // of `current`
  grpc::ClientContext* current = nullptr;
  BackgroundThread watcher;  // last: it uses the others
};

GrpcClient::GrpcClient(const WireClientOptions& options, const std::optional<Kit>& kit,
                       const std::atomic<bool>& stop)
    : wire_(std::make_unique<Wire>(options, kit, stop)) {}

GrpcClient::~GrpcClient() = default;

v1::JoinReply GrpcClient::Join(int64_t images) {
  v1::JoinRequest request;
  request.set_protocol(kProtocol);
  request.set_version(KINDRED_VERSION);
  request.set_images(images);
  v1::JoinReply reply;
  const auto refused = wire_->Repeat("join", kCallTime, [&](grpc::ClientContext& context) {
    return wire_->stub->Join(&context, request, &reply);
  });
  if (refused) {
    throw NetworkError("{}: join: {}", wire_->options.server, wire_->message);
  }
  return reply;
}

std::optional<v1::PlanReply> GrpcClient::WaitForPlan(const std::string& run) {
  v1::PlanRequest request;
  request.set_run(run);
  v1::PlanReply reply;
  const auto reason =
      wire_->Repeat("wait for a plan", kCallTime, [&](grpc::ClientContext& context) {
        return wire_->stub->WaitForPlan(&context, request, &reply);
      });
  if (reason == Refusal::kRun || reason == Refusal::kMember) return std::nullopt;
  if (reason) throw NetworkError("{}: {}", wire_->options.server, wire_->message);
  return reply;
}

std::optional<Bytes> GrpcClient::Download(const v1::DownloadRequest& request, uint64_t bytes,
                                          const std::string& digest) {
  if (bytes > wire_->options.most_download) {
    throw NetworkError("{}: it would send {} bytes, client.max_download allows {}",
                       wire_->options.server, bytes, wire_->options.most_download);
  }
  Bytes content;
  for (int tries = 0; tries < 3; ++tries) {
    content.clear();
    content.reserve(bytes);
    bool endless = false;
    const auto call = [&](grpc::ClientContext& context) {
      v1::DownloadRequest rest = request;
      rest.set_offset(content.size());
      const auto reader = wire_->stub->Download(&context, rest);
      v1::Chunk chunk;
      while (reader->Read(&chunk)) {
        if (chunk.data().size() > bytes - content.size()) {
          endless = true;
          context.TryCancel();
          break;
        }
        content.insert(content.end(), chunk.data().begin(), chunk.data().end());
      }
      const grpc::Status status = reader->Finish();
      if (endless) return grpc::Status::OK;
      if (status.ok() && content.size() < bytes) {
        return grpc::Status(grpc::StatusCode::UNAVAILABLE, "the stream ended early");
      }
      return status;
    };
    if (wire_->Repeat("download", kTransferTime, call, [&] { return content.size(); })) {
      return std::nullopt;
    }
    if (!endless && DigestOfBytes(content) == digest) return content;
    spdlog::warn("{}: a download does not have its digest; once more", wire_->options.server);
  }
  throw NetworkError("{}: three downloads did not have the digest that the coordinator says",
                     wire_->options.server);
}

UploadEnd GrpcClient::Upload(v1::UploadBegin begin, std::span<const uint8_t> bytes) {
  const v1::UploadHeader header = begin.header();
  uint64_t received = 0;  // by the coordinator, as it says
  bool accepted = false;
  const auto call = [&](grpc::ClientContext& context) {
    {
      grpc::ClientContext asking;
      asking.set_deadline(std::chrono::system_clock::now() + kStatusTime);
      wire_->Introduce(asking);
      v1::UploadReply state;
      if (wire_->stub->UploadStatus(&asking, header.key(), &state).ok())
        received = state.received();
    }
    begin.set_offset(received);
    v1::UploadReply reply;
    const auto writer = wire_->stub->Upload(&context, &reply);
    v1::UploadPart part;
    *part.mutable_begin() = begin;
    bool open = writer->Write(part);
    if (open) writer->WaitForInitialMetadata();  // the coordinator has room
    for (uint64_t next = received; open && next < bytes.size();) {
      const uint64_t size = std::min(NextChunk(next - received), bytes.size() - next);
      part.set_data(bytes.data() + next, size);
      open = writer->Write(part);
      next += size;
    }
    if (open && received == bytes.size()) {  // all was there: an empty part ends it
      part.set_data("");
      writer->Write(part);
    }
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    accepted = status.ok() && reply.accepted();
    if (ReasonOf(context) == Refusal::kOffset) {
      return grpc::Status(grpc::StatusCode::ABORTED, "the coordinator has another part of it");
    }
    return status;
  };
  const auto reason = wire_->Repeat("upload", kTransferTime, call, [&] { return received; });
  if (accepted) return UploadEnd::kAccepted;
  if (reason && (IsStrike(*reason) || reason == Refusal::kSitsOut ||
                 reason == Refusal::kDuplicate || reason == Refusal::kFull)) {
    spdlog::warn("round {}: the coordinator refuses the update: {}", header.key().round() + 1,
                 wire_->message);
    return UploadEnd::kRefused;
  }
  return UploadEnd::kStale;
}

void GrpcClient::Leave(const std::string& run, bool has_model) {
  v1::LeaveRequest request;
  request.set_run(run);
  request.set_has_model(has_model);
  for (int tries = has_model ? 3 : 1; tries > 0; --tries) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(2));
    wire_->Introduce(context);
    v1::LeaveReply reply;
    if (wire_->stub->Leave(&context, request, &reply).ok()) return;
  }
}

}  // namespace kindred

#include "federation/grpc_calls.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "base/name.h"

namespace kindred {

namespace {

constexpr int kMostUploads = 2;    // of one client at a time: one that goes on, one that was cut
constexpr int kMostDownloads = 4;  // of one client at a time: model and remote features
constexpr uint64_t kCallBytes = 16 << 10;  // its headers, 8 KB, and a request without a chunk
constexpr double kCallsPerSecond = 50, kBurst = 200;  // of one client, which makes a few
constexpr char kReasonKey[] = "kindred-reason";

grpc::StatusCode CodeOf(Refusal reason) {
  switch (reason) {
    case Refusal::kIdentity:
      return grpc::StatusCode::UNAUTHENTICATED;
    case Refusal::kRevoked:
    case Refusal::kStrikes:
      return grpc::StatusCode::PERMISSION_DENIED;
    case Refusal::kDuplicate:
      return grpc::StatusCode::ALREADY_EXISTS;
    case Refusal::kBusy:
    case Refusal::kConnections:
      return grpc::StatusCode::RESOURCE_EXHAUSTED;
    case Refusal::kSlow:
      return grpc::StatusCode::ABORTED;
    default:
      return IsStrike(reason) ? grpc::StatusCode::INVALID_ARGUMENT
                              : grpc::StatusCode::FAILED_PRECONDITION;
  }
}

}  // namespace

grpc::Status StatusOf(grpc::CallbackServerContext& context, const Refused& why) {
  context.AddTrailingMetadata(kReasonKey, WordOf(why.reason));
  return {CodeOf(why.reason), TextOf(why)};
}

grpc::Status Failure(const std::exception& error) {
  spdlog::error("a call failed: {}", Printable(error.what()));
  return {grpc::StatusCode::INTERNAL, "the coordinator failed at it"};
}

bool Transfers::Enter(int client) {
  const std::lock_guard lock(mutex_);
  if (count_[client] >= most_) {
    throw Refused{Refusal::kBusy,
                  fmt::format("this client's {} before it have not ended yet", what_)};
  }
  ++count_[client];
  return true;
}

void Transfers::Leave(int client) {
  const std::lock_guard lock(mutex_);
  if (--count_[client] == 0) count_.erase(client);
}

GrpcCalls::GrpcCalls(Coordinator& coordinator_of_run, Enrolments& enrolments, bool tls,
                     const WireLimits& limits, std::function<void(const AuditEvent&)> audit)
    : coordinator(coordinator_of_run),
      pace(limits),
      uploads("uploads", kMostUploads),
      downloads("downloads", kMostDownloads),
      connections(limits.per_client),
      enrolments_(enrolments),
      tls_(tls),
      audit_(std::move(audit)),
      rate_(kCallsPerSecond, kBurst) {}

void GrpcCalls::Note(const AuditEvent& event) {
  try {
    audit_(event);
  } catch (const std::exception& error) {
    Failure(error);
  }
}

void GrpcCalls::ConnectionRefused(Refusal reason) {
  const auto detail = [&] {
    switch (reason) {
      case Refusal::kAddress:
        return "a connection too many from one address (server.max_per_address)";
      case Refusal::kBytes:
        return "more bytes came over a connection than its calls account for";
      default:
        return "a connection too many (server.max_connections, ulimit -n)";
    }
  };
  Note({.event = "refuse", .reason = WordOf(reason), .detail = detail()});
}

void GrpcCalls::ConnectionEnded(const Peer& peer) {
  if (connections.Forget(peer)) return;
  Note({.event = "refuse",
        .reason = WordOf(Refusal::kHandshake),
        .detail = "a connection ended without a call: a handshake that failed or took too long"});
}

Caller GrpcCalls::CallerOf(const grpc::CallbackServerContext& context, std::string& known) {
  const auto peer = ParsePeer(context.peer());
  if (peer) connections.Hear(*peer);
  FoundEnrolment found;
  if (tls_) {
    const auto properties = context.auth_context()->FindPropertyValues("x509_pem_cert");
    if (properties.size() != 1) throw Refused{Refusal::kIdentity, "no certificate"};
    found = enrolments_.Find(std::string(properties[0].data(), properties[0].size()));
  } else {
    const auto names = context.client_metadata().equal_range("kindred-name");
    if (names.first == names.second) throw Refused{Refusal::kIdentity, "no name"};
    const std::string name(names.first->second.data(), names.first->second.size());
    if (!IsName(name)) throw Refused{Refusal::kIdentity, "not a name"};
    found = enrolments_.ByName(name);
  }
  known = found.enrolment.name;
  if (found.state == EnrolmentState::kRevoked) {
    throw Refused{Refusal::kRevoked, "this certificate was revoked; ask for a new kit"};
  }
  if (found.state != EnrolmentState::kValid) {
    throw Refused{Refusal::kIdentity, "this certificate is not enrolled here; ask for a kit"};
  }
  if (peer) connections.Assign(*peer, found.enrolment.place);
  rate_.Count(found.enrolment.place, CallRate::Clock::now());
  if (peer) connections.Account(*peer, kCallBytes);
  const auto process = context.client_metadata().find("kindred-process");
  const bool told = process != context.client_metadata().end();
  return {found.enrolment.place, found.enrolment.name, found.enrolment.images,
          told ? std::string(process->second.data(), process->second.size()) : ""};
}

void GrpcCalls::Account(const grpc::CallbackServerContext& context, uint64_t bytes) {
  if (const auto peer = ParsePeer(context.peer())) connections.Account(*peer, bytes);
}

grpc::Status GrpcCalls::Refuse(grpc::CallbackServerContext& context, const Refused& why,
                               const std::string& name) {
  if (!KindOf(why.reason).usual) {
    Note({.event = "refuse", .client = name, .reason = WordOf(why.reason), .detail = why.message});
  }
  const bool may_stay = why.reason != Refusal::kIdentity && why.reason != Refusal::kRevoked &&
                        why.reason != Refusal::kConnections;
  try {
    const auto peer = ParsePeer(context.peer());
    if (peer && !may_stay) connections.CloseSoon(*peer, Connections::Clock::now());
  } catch (const std::exception& error) {
    Failure(error);
  }
  return StatusOf(context, why);
}

}  // namespace kindred

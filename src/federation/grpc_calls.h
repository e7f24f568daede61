// What all calls of the wire have in common at the coordinator: who asks, how a refusal is told,
// how many transfers a client has under way.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "federation/call_rate.h"
#include "federation/connections.h"
#include "federation/coordinator.h"
#include "federation/pace.h"
#include "identity/enrolments.h"
#include "record/audit_log.h"

namespace kindred {

// The status of a refusal; its reason goes beside it for programs.
grpc::Status StatusOf(grpc::CallbackServerContext& context, const Refused& why);

// What is nobody's fault outside: too little memory, most likely. The call fails, the rest goes on.
grpc::Status Failure(const std::exception& error);

// The transfers of each client that are under way. Any thread.
class Transfers {
 public:
  Transfers(const char* what, int most) : what_(what), most_(most) {}

  // True. Throws Refused when the client has too many.
  bool Enter(int client);
  void Leave(int client);

 private:
  const char* what_;
  int most_;
  std::mutex mutex_;
  std::map<int, int> count_;
};

// Any thread. What it refers to must outlive it.
class GrpcCalls {
 public:
  // `tls`: names come from certificates; else, on a plain-text loopback, callers give them.
  GrpcCalls(Coordinator& coordinator, Enrolments& enrolments, bool tls, const WireLimits& limits,
            std::function<void(const AuditEvent&)> audit);

  // Who asks. `known` is the name as soon as there is one, for the log of a refusal. Throws
  // Refused.
  Caller CallerOf(const grpc::CallbackServerContext& context, std::string& known);

  // A connection was refused, or ended; for the audit log. Both throw nothing.
  void ConnectionRefused(Refusal reason);
  void ConnectionEnded(const Peer& peer);

  // A message of so many bytes has come in a call.
  void Account(const grpc::CallbackServerContext& context, uint64_t bytes);

  // The status of a refusal, which leaves its mark in the audit log. Who may not take part, or has
  // too many connections, loses this one. Throws nothing.
  grpc::Status Refuse(grpc::CallbackServerContext& context, const Refused& why,
                      const std::string& name);

  Coordinator& coordinator;
  Pace pace;
  Transfers uploads, downloads;
  Connections connections;

 private:
  void Note(const AuditEvent& event);

  Enrolments& enrolments_;
  bool tls_;
  std::function<void(const AuditEvent&)> audit_;
  CallRate rate_;
};

}  // namespace kindred

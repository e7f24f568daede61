// The coordinator's end of the wire: gRPC over mutual TLS in front of a Coordinator.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "federation/accept_loop.h"
#include "federation/coordinator.h"
#include "identity/enrolments.h"
#include "identity/kit.h"

namespace kindred {

class GrpcServer {
 public:
  // Listens from now on. Without a kit the wire is plain text, which is for loopback alone: throws
  // a network error for another address. The others must outlive it. `audit` gets every refusal:
  // of calls, and of connections.
  GrpcServer(const std::string& address, const std::optional<ServerKit>& kit,
             const WireLimits& limits, Coordinator& coordinator, Enrolments& enrolments,
             std::function<void(const AuditEvent&)> audit);
  ~GrpcServer();  // ends the calls under way

  std::string address() const;

 private:
  class Service;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace kindred

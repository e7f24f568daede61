// How far a client gets on its way to a coordinator: the name, the connection, the handshake.
#pragma once

#include <optional>
#include <string>

#include "identity/kit.h"

namespace kindred {

// Where the way ends.
enum class WayEnd {
  kHost,         // the name stands for no address
  kConnection,   // nobody accepts a TCP connection there, or something on the way drops it
  kTls,          // somebody does, and speaks no TLS
  kFederation,   // somebody does, without a coordinator's certificate of this federation
  kCertificate,  // a coordinator of this federation, which does not take this certificate
};

struct Unreached {
  WayEnd end = WayEnd::kHost;
  std::string why;  // what was seen, one line
};

// Why no TCP connection to HOST:PORT comes about in so many seconds; nullopt when one does. Each
// address of the host is tried. Throws a usage error when the text is no address.
std::optional<Unreached> CheckReachable(const std::string& address, double seconds = 5);

// The same with a handshake of mutual TLS, and the coordinator's first bytes after it: TLS 1.3 says
// only then that it refuses a certificate.
std::optional<Unreached> WhyNoHandshake(const std::string& address, const Kit& kit,
                                        double seconds = 5);

}  // namespace kindred

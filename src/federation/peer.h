// The other end of a TCP connection.
#pragma once

#include <sys/socket.h>

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>

namespace kindred {

struct Peer {
  std::array<uint8_t, 16> address = {};  // IPv6, or IPv4 as ::ffff:a.b.c.d
  uint16_t port = 0;

  auto operator<=>(const Peer&) const = default;
};

Peer PeerOf(const sockaddr_storage& address);

// A call's peer as gRPC writes it: "ipv4:10.0.0.7:41522", "ipv6:%5B::1%5D:41522". nullopt: it is
// none of these.
std::optional<Peer> ParsePeer(const std::string& text);

}  // namespace kindred

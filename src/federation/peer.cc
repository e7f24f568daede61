#include "federation/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace kindred {
namespace {

void SetIpv4(Peer& peer, const void* four_bytes) {
  peer.address = {};
  peer.address[10] = peer.address[11] = 0xff;
  std::memcpy(peer.address.data() + 12, four_bytes, 4);
}

// The text between "[" or "%5B" and "]" or "%5D", without a zone.
std::string Unbracketed(std::string text) {
  for (const char* bracket : {"[", "%5B", "]", "%5D"}) {
    const auto at = text.find(bracket);
    if (at != std::string::npos) text.erase(at, std::strlen(bracket));
  }
  return text.substr(0, text.find('%'));
}

}  // namespace

Peer PeerOf(const sockaddr_storage& address) {
  Peer peer;
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    SetIpv4(peer, &v4.sin_addr);
    peer.port = ntohs(v4.sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    std::memcpy(peer.address.data(), &v6.sin6_addr, peer.address.size());
    peer.port = ntohs(v6.sin6_port);
  }
  return peer;
}

std::optional<Peer> ParsePeer(const std::string& text) {
  const auto first = text.find(':'), last = text.rfind(':');
  if (first == std::string::npos || last == first) return std::nullopt;
  const std::string kind = text.substr(0, first);
  const std::string host = Unbracketed(text.substr(first + 1, last - first - 1));
  Peer peer;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + last + 1, end, peer.port);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  in_addr v4;
  if (kind == "ipv4" && ::inet_pton(AF_INET, host.c_str(), &v4) == 1) {
    SetIpv4(peer, &v4);
    return peer;
  }
  if (kind == "ipv6" && ::inet_pton(AF_INET6, host.c_str(), peer.address.data()) == 1) return peer;
  return std::nullopt;
}

}  // namespace kindred

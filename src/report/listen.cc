#include "report/listen.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <system_error>

#include "base/error.h"
#include "base/host.h"

namespace kindred {
namespace {

// A socket's own address, whatever name it was asked for by.
struct Bound {
  uint16_t port = 0;
  bool any = false;  // all addresses of the machine
  bool loopback = false;
};

Bound BoundTo(int fd) {
  sockaddr_storage address = {};
  socklen_t size = sizeof address;
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  if (address.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    const uint32_t number = ntohl(four.sin_addr.s_addr);
    return {ntohs(four.sin_port), number == INADDR_ANY, number >> 24 == 127};
  }
  const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
  return {ntohs(six.sin6_port), IN6_IS_ADDR_UNSPECIFIED(&six.sin6_addr) != 0,
          IN6_IS_ADDR_LOOPBACK(&six.sin6_addr) != 0};
}

}  // namespace

Listening ListenForBrowsers(const Address& address) {
  const std::string text = FormatAddress(address);
  const HostPlaces places = LookUpHost(address, HostUse::kListen);
  if (!places.first) throw NetworkError("--dashboard {}: {}", text, places.why_none);
  // A name may have several addresses, of which this machine need not have all (::1).
  int fd = -1;
  std::string why;
  for (const addrinfo* at = places.first.get(); at != nullptr && fd < 0; at = at->ai_next) {
    fd = ::socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    const int on = 1;
    if (fd >= 0) ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd >= 0 && ::bind(fd, at->ai_addr, at->ai_addrlen) == 0 && ::listen(fd, 64) == 0) break;
    const int error = errno;
    if (why.empty()) why = std::generic_category().message(error);
    if (fd >= 0) ::close(fd);
    fd = -1;
    // Where another listens, browsers that are told the name would reach that one.
    if (error != EADDRNOTAVAIL && error != EAFNOSUPPORT) break;
  }
  if (fd < 0) throw NetworkError("--dashboard {}: {}; give another HOST:PORT", text, why);
  const Bound bound = BoundTo(fd);
  if (bound.any) {
    ::close(fd);
    throw UsageError(
        "--dashboard {}: give the address that browsers will call it by; others are refused", text);
  }
  return {fd, bound.port, bound.loopback};
}

}  // namespace kindred

#include "base/host.h"

#include <sys/socket.h>

namespace kindred {

HostPlaces LookUpHost(const Address& address, HostUse use) {
  addrinfo hints = {};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (use == HostUse::kListen ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const int failed =
      ::getaddrinfo(address.host.c_str(), std::to_string(address.port).c_str(), &hints, &found);
  HostPlaces places;
  if (failed == 0) {
    places.first.reset(found);
  } else {
    places.why_none = ::gai_strerror(failed);
  }
  return places;
}

}  // namespace kindred

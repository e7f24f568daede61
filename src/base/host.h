// Where a host of the network is.
#pragma once

#include <netdb.h>

#include <memory>
#include <string>

#include "base/address.h"

namespace kindred {

// A list of socket addresses, the preferred one first; or why there is none.
struct HostPlaces {
  std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> first = {nullptr, &::freeaddrinfo};
  std::string why_none;
};

enum class HostUse { kConnect, kListen };

// Asks the system's resolver, which may take some seconds.
HostPlaces LookUpHost(const Address& address, HostUse use);

}  // namespace kindred

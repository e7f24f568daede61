// The socket that the dashboard listens on.
#pragma once

#include <cstdint>

#include "base/address.h"

namespace kindred {

struct Listening {
  int fd = -1;  // the caller's to close
  uint16_t port = 0;
  bool loopback = false;  // only this machine reaches it
};

// Listens on the address; port 0: any. Throws a network error when it cannot, a usage error when it
// stands for all addresses of the machine: browsers can call it by none of them.
Listening ListenForBrowsers(const Address& address);

}  // namespace kindred

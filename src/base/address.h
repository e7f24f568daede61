// HOST:PORT, as people write it.
#pragma once

#include <cstdint>
#include <string>

namespace kindred {

struct Address {
  std::string host;  // a name or an IP address, an IPv6 one without its brackets
  uint16_t port = 0;
};

// The parts of "HOST:PORT" or "[IPv6]:PORT". Throws a usage error when the text is neither: a host
// is of letters, digits, dots, dashes and underscores, a port a number up to 65535.
Address ParseAddress(const std::string& text);

// The other way.
std::string FormatAddress(const Address& address);

}  // namespace kindred

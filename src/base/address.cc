#include "base/address.h"

#include <arpa/inet.h>

#include <charconv>

#include "base/error.h"

namespace kindred {
namespace {

bool IsHost(const std::string& text) {
  if (text.empty() || text.size() > 253) return false;
  return text.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_") ==
         std::string::npos;
}

bool IsIpv6(const std::string& text) {
  in6_addr ignored;
  return ::inet_pton(AF_INET6, text.c_str(), &ignored) == 1;
}

}  // namespace

Address ParseAddress(const std::string& text) {
  const auto wrong = [&] {
    return UsageError("{}: not an address; write HOST:PORT or [IPv6]:PORT, such as 10.0.0.5:7433",
                      Printable(text));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) throw wrong();
  std::string host = text.substr(0, colon);
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (brackets) host = host.substr(1, host.size() - 2);
  if (brackets ? !IsIpv6(host) : !IsHost(host)) throw wrong();
  uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + colon + 1, end, port);
  if (read.ec != std::errc() || read.ptr != end) throw wrong();
  return {host, port};
}

std::string FormatAddress(const Address& address) {
  return IsIpv6(address.host) ? fmt::format("[{}]:{}", address.host, address.port)
                              : fmt::format("{}:{}", address.host, address.port);
}

}  // namespace kindred

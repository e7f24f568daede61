#include "federation/peer.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

namespace kindred {
namespace {

Peer OfSocket(const char* host, uint16_t port) {
  sockaddr_storage storage = {};
  if (auto& v4 = reinterpret_cast<sockaddr_in&>(storage);
      ::inet_pton(AF_INET, host, &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
  } else {
    auto& v6 = reinterpret_cast<sockaddr_in6&>(storage);
    EXPECT_EQ(::inet_pton(AF_INET6, host, &v6.sin6_addr), 1);
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
  }
  return PeerOf(storage);
}

TEST(Peer, IsTheSameFromTheSocketAndFromGrpc) {
  EXPECT_EQ(ParsePeer("ipv4:10.0.0.7:41522"), OfSocket("10.0.0.7", 41522));
  EXPECT_EQ(ParsePeer("ipv6:%5B::1%5D:65535"), OfSocket("::1", 65535));
  EXPECT_EQ(ParsePeer("ipv6:[2001:db8::5]:80"), OfSocket("2001:db8::5", 80));
  EXPECT_EQ(ParsePeer("ipv6:%5Bfe80::1%25eth0%5D:80"), OfSocket("fe80::1", 80));
}

// A listener on [::] has clients of IPv4 too.
TEST(Peer, AMappedAddressIsTheIpv4One) {
  EXPECT_EQ(OfSocket("::ffff:10.0.0.7", 5), OfSocket("10.0.0.7", 5));
  EXPECT_EQ(ParsePeer("ipv6:%5B::ffff:10.0.0.7%5D:5"), ParsePeer("ipv4:10.0.0.7:5"));
}

TEST(Peer, AddressAndPortTellThemApart) {
  EXPECT_NE(ParsePeer("ipv4:10.0.0.7:5"), ParsePeer("ipv4:10.0.0.7:6"));
  EXPECT_NE(ParsePeer("ipv4:10.0.0.7:5"), ParsePeer("ipv4:10.0.0.8:5"));
}

TEST(Peer, WhatIsNoPeerIsNone) {
  for (const char* text : {"", ":", "unix:/tmp/x:5", "ipv4:10.0.0.7", "ipv4:10.0.0.7:65536",
                           "ipv4:10.0.0.7:5x", "ipv4:10.0.0:5", "ipv6:%5B::g%5D:5"}) {
    EXPECT_FALSE(ParsePeer(text)) << text;
  }
}

}  // namespace
}  // namespace kindred

#include "base/host.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

namespace kindred {
namespace {

TEST(LookUpHost, FindsLoopbackAndItsPort) {
  const HostPlaces places = LookUpHost({"127.0.0.1", 7433}, HostUse::kConnect);
  ASSERT_NE(places.first, nullptr);
  const auto& found = *reinterpret_cast<const sockaddr_in*>(places.first->ai_addr);
  EXPECT_EQ(ntohl(found.sin_addr.s_addr), INADDR_LOOPBACK);
  EXPECT_EQ(ntohs(found.sin_port), 7433);
}

TEST(LookUpHost, SaysWhyThereIsNone) {
  const HostPlaces places = LookUpHost({"no..such", 1}, HostUse::kListen);
  EXPECT_EQ(places.first, nullptr);
  EXPECT_FALSE(places.why_none.empty());
}

}  // namespace
}  // namespace kindred

#include "base/address.h"

#include <gtest/gtest.h>

#include "tests/throws.h"

namespace kindred {
namespace {

TEST(Address, IsAHostAndAPort) {
  for (const char* text : {"localhost:1", "10.0.0.5:7433", "[::1]:0", "[2001:db8::7]:65535",
                           "my_host.example.org:80"}) {
    EXPECT_EQ(FormatAddress(ParseAddress(text)), text);
  }
  EXPECT_EQ(ParseAddress("[::1]:7433").host, "::1");
  EXPECT_EQ(ParseAddress("[::1]:7433").port, 7433);
}

TEST(Address, AnythingElseIsRefused) {
  for (const char* text :
       {"", "localhost", ":1", "a:", "a:65536", "a:-1", "a:1x", "a: 1", "::1:7", "[]:1", "[a]:1",
        "[::1]", "a b:1", "a\"b:1", "a\nb:1", "http://a:1", "[::1%lo]:1"}) {
    ExpectError(ExitCode::kUsage, "HOST:PORT", [&] { ParseAddress(text); });
  }
}

}  // namespace
}  // namespace kindred

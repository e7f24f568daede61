#include "base/base64.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

TEST(Base64, IsThatOfRfc4648) {
  const auto of = [](std::string_view text) {
    return Base64({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  };
  EXPECT_EQ(of(""), "");
  EXPECT_EQ(of("f"), "Zg==");
  EXPECT_EQ(of("fo"), "Zm8=");
  EXPECT_EQ(of("foobar"), "Zm9vYmFy");
}

}  // namespace
}  // namespace kindred

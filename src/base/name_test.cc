#include "base/name.h"

#include <gtest/gtest.h>

#include <string>

namespace kindred {
namespace {

TEST(Name, IsLettersDigitsDotsAndDashes) {
  for (const char* name : {"a", "Ward-7", "robot_3", "st.mary.v2", "...", "-", "0"}) {
    EXPECT_TRUE(IsName(name)) << name;
  }
  EXPECT_TRUE(IsName(std::string(64, 'x')));
}

TEST(Name, IsNeverAPathNorAnythingThatNeedsQuoting) {
  for (const char* text : {"", ".", "..", "a/b", "../a", "/etc", "a b", "a\nb", "a\\b", "\"a\"",
                           "<b>", "caf\xc3\xa9", "a:b", "a\x7f"}) {
    EXPECT_FALSE(IsName(text)) << text;
  }
  EXPECT_FALSE(IsName(std::string(65, 'x')));
  EXPECT_FALSE(IsName(std::string_view("a\0b", 3)));
}

}  // namespace
}  // namespace kindred

#include "base/toml_limits.h"

#include <gtest/gtest.h>

#include <string>

#include "base/config.h"
#include "tests/throws.h"

namespace kindred {
namespace {

std::string KeyOf(int parts) {
  std::string key = "a";
  for (int i = 1; i < parts; ++i) key += ".a";
  return key + " = 1\n";
}

TEST(LineOfDots, IsTheFirstLineWithTooMany) {
  EXPECT_EQ(LineOfDots(""), 0);
  EXPECT_EQ(LineOfDots(KeyOf(kMostDots + 1)), 0);
  EXPECT_EQ(LineOfDots(KeyOf(kMostDots + 2)), 1);
  EXPECT_EQ(LineOfDots("a = 1\n" + KeyOf(600) + KeyOf(600) + KeyOf(9000)), 4);
}

// Or the parser would run out of stack.
TEST(LineOfDots, IsLookedForBeforeAConfigurationIsParsed) {
  Config config;
  ExpectError(ExitCode::kUsage, "here:1: more than 1000 dots",
              [&] { config.ApplyText(KeyOf(300'000), "here"); });
  EXPECT_FALSE(TomlToJson(KeyOf(300'000)));
  EXPECT_TRUE(TomlToJson(KeyOf(kMostDots)));
}

}  // namespace
}  // namespace kindred

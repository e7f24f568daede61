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
  return key;
}

// Tables in arrays in tables, whose keys have many parts each: no line of it has many.
std::string Nested(int tables, int parts) {
  std::string text = "x = [\n";
  for (int i = 0; i < tables; ++i) text += "{ " + KeyOf(parts) + " = [\n";
  for (int i = 0; i < tables; ++i) text += "] }\n";
  return text + "]\n";
}

TEST(HasTooManyDots, CountsThoseOfAllLines) {
  EXPECT_FALSE(HasTooManyDots(""));
  EXPECT_FALSE(HasTooManyDots(KeyOf(kMostDots + 1)));
  EXPECT_TRUE(HasTooManyDots(KeyOf(kMostDots + 2)));
  EXPECT_TRUE(HasTooManyDots(Nested(100, 52)));
}

// Or the parser would run out of stack.
TEST(HasTooManyDots, IsLookedForBeforeTomlIsParsed) {
  for (const std::string& text : {KeyOf(300'000) + " = 1\n", Nested(120, 990)}) {
    Config config;
    ExpectError(ExitCode::kUsage, "here: more than 5000 dots",
                [&] { config.ApplyText(text, "here"); });
    EXPECT_FALSE(TomlToJson(text));
  }
  EXPECT_TRUE(TomlToJson(KeyOf(kMostDots) + " = 1\n"));
  EXPECT_TRUE(TomlToJson(Nested(100, 50)));
}

}  // namespace
}  // namespace kindred

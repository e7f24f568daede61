#include "base/json_text.h"

#include <gtest/gtest.h>

#include <string>

namespace kindred {
namespace {

std::string Nested(int depth) {
  return std::string(static_cast<size_t>(depth), '[') +
         std::string(static_cast<size_t>(depth), ']');
}

TEST(ParseJson, ReadsWhatIsJsonAndKeepsTheOrderOfKeys) {
  EXPECT_EQ(ParseJson(R"({"b": [1, {"c": null}], "a": "x"})").dump(),
            R"({"b":[1,{"c":null}],"a":"x"})");
  for (const char* text : {"", "{", "[1,]", "nul", "{\"a\" 1}", "\"a", "]", "[}"}) {
    EXPECT_TRUE(ParseJson(text).is_discarded()) << text;
  }
}

TEST(ParseJson, RefusesWhatIsTooDeepBeforeItIsParsed) {
  EXPECT_TRUE(ParseJson(Nested(kMostJsonDepth)).is_array());
  EXPECT_TRUE(ParseJson(Nested(kMostJsonDepth + 1)).is_discarded());
  EXPECT_TRUE(ParseJson(Nested(2'000'000)).is_discarded());
  EXPECT_TRUE(ParseJson(std::string(2'000'000, '{')).is_discarded());
}

TEST(ParseJson, BracketsInStringsAreNoDepth) {
  const std::string brackets(1000, '[');
  EXPECT_EQ(ParseJson("\"" + brackets + "\\\"" + brackets + "\"").get<std::string>(),
            brackets + "\"" + brackets);
}

}  // namespace
}  // namespace kindred

#include "base/error.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

TEST(Error, CarriesItsExitCode) {
  EXPECT_EQ(UsageError("x = {}", 3).code(), ExitCode::kUsage);
  EXPECT_STREQ(DataError("{}: cut short", "a.bin").what(), "a.bin: cut short");
}

TEST(Printable, ShowsControlCharactersAndCutsLongText) {
  EXPECT_EQ(Printable("a\nb\x1b[31m"), "a\\x0ab\\x1b[31m");
  EXPECT_EQ(Printable("Grüße"), "Grüße");
  EXPECT_EQ(Printable(std::string(500, 'x')).size(), 203u);
  EXPECT_EQ(Printable("a\xff\xc3"), "a\\xff\\xc3");  // no UTF-8
  EXPECT_EQ(Printable("\xc0\xaf\xed\xa0\x80").find('\xc0'),
            std::string::npos);  // overlong, surrogate
  const std::string umlauts = [] {
    std::string text = "x";
    for (int i = 0; i < 200; ++i) text += "\xc3\xbc";
    return text;
  }();
  EXPECT_EQ(Printable(umlauts).size(), 1 + 2 * 100 + 3u);  // cut between characters
}

TEST(CheckDeathTest, AbortsWithThePlace) {
  EXPECT_DEATH(Check(1 > 2, "numbers are broken"), "error_test.cc:.*numbers are broken");
}

}  // namespace
}  // namespace kindred

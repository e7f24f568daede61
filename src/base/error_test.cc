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
}

TEST(CheckDeathTest, AbortsWithThePlace) {
  EXPECT_DEATH(Check(1 > 2, "numbers are broken"), "error_test.cc:.*numbers are broken");
}

}  // namespace
}  // namespace kindred

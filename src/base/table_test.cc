#include "base/table.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

TEST(TextTable, SetsNumbersRightAndWordsLeft) {
  EXPECT_EQ(TextTable({{"name", "count"}, {"a", "7"}, {"größer", "1234567"}}),
            "name      count\n"
            "a             7\n"
            "größer  1234567\n");
}

TEST(TextTable, TakesShortRowsAndEmptyTables) {
  EXPECT_EQ(TextTable({{"a", "b"}, {"x"}}), "a  b\nx\n");
  EXPECT_EQ(TextTable({}), "");
}

}  // namespace
}  // namespace kindred

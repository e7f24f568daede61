#include "base/display_width.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(DisplayWidth(""), 0u);
  EXPECT_EQ(DisplayWidth("kNN 45 %"), 8u);
  EXPECT_EQ(DisplayWidth("Gr\u00f6\u00dfe \u2013 \u20ac"), 9u);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1u) << "an accent of its own";
  EXPECT_EQ(DisplayWidth("\u732b"), 2u) << "a Chinese character";
  EXPECT_EQ(DisplayWidth("\U0001f408"), 2u) << "an emoji";
  EXPECT_EQ(DisplayWidth("a\xff\xc3"), 3u) << "no UTF-8";
}

TEST(CutToWidth, CutsNoCharacterInTwo) {
  EXPECT_EQ(CutToWidth("abc", 5), "abc");
  EXPECT_EQ(CutToWidth("abc", 2), "ab");
  EXPECT_EQ(CutToWidth("abc", 0), "");
  EXPECT_EQ(CutToWidth("\u732b\u732b", 3), "\u732b");
  EXPECT_EQ(CutToWidth("e\u0301x", 1), "e\u0301");
}

}  // namespace
}  // namespace kindred

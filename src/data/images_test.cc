#include "data/images.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

Images TwoByOne() {  // two images of 1 x 2 pixels
  return {.count = 2,
          .channels = 3,
          .height = 1,
          .width = 2,
          .pixels = {255, 0, 0, 10, 0, 20, 1, 2, 3, 4, 5, 6}};
}

TEST(Images, SelectTakesThemInTheGivenOrder) {
  const std::vector<int> order = {1, 0, 1};
  const Images chosen = Select(TwoByOne(), order);
  EXPECT_EQ(chosen.count, 3);
  EXPECT_EQ(chosen[0][0], 1);
  EXPECT_EQ(chosen[1][0], 255);
  EXPECT_EQ(chosen[2][5], 6);
}

// (19595 x 255 + 32768) >> 16 = 76; (38470 x 10 + 7471 x 20 + 32768) >> 16 = 8.
TEST(Images, GreyIsLumaAndColourOfGreyIsReplicated) {
  const Images grey = WithChannels(TwoByOne(), 1);
  EXPECT_TRUE(grey.grey);
  EXPECT_EQ(grey.pixels, (Bytes{76, 8, 3, 4}));
  const Images color = WithChannels(grey, 3);
  EXPECT_TRUE(color.grey);
  EXPECT_EQ(color.pixels, (Bytes{76, 8, 76, 8, 76, 8, 3, 4, 3, 4, 3, 4}));
}

TEST(Images, WithSizeScalesEachImage) {
  const Images scaled = WithSize(TwoByOne(), 2);  // the shorter side 1 -> 2, middle of 4 columns
  EXPECT_EQ(scaled.count, 2);
  EXPECT_EQ(scaled.height, 2);
  EXPECT_EQ(scaled.width, 2);
  EXPECT_EQ(scaled[0][0], 191);  // 255 x 3/4, rounded
  EXPECT_EQ(scaled[0][1], 64);   // 255 x 1/4, rounded
}

}  // namespace
}  // namespace kindred

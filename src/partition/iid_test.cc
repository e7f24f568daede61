#include "partition/iid.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

TEST(Iid, PartsDifferByOneImageAtMost) {
  const Partition partition = DealIid({.images = 103});
  ASSERT_EQ(partition.Clients(), 5);
  for (const auto& own : partition.clients) EXPECT_EQ(own.size() / 2, 10u);  // 20 or 21
}

// 1000 images of which the first 500 are "class 0": each of 5 clients gets about 100 of them
// (hypergeometric, deviation 6.3).
TEST(Iid, MixesTheClasses) {
  const Partition partition = DealIid({.images = 1000});
  for (const auto& own : partition.clients) {
    int low = 0;
    for (const int i : own) low += i < 500 ? 1 : 0;
    EXPECT_NEAR(low, 100, 32);
  }
}

}  // namespace
}  // namespace kindred

#include "base/progress.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

TEST(HumanBytes, TakesTheLargestUnitBelowTheNumber) {
  EXPECT_EQ(HumanBytes(999), "999 B");
  EXPECT_EQ(HumanBytes(1000), "1.0 kB");
  EXPECT_EQ(HumanBytes(170'498'071), "170.5 MB");
}

TEST(Progress, IsQuietWhenTheWorkIsShort) {
  testing::internal::CaptureStderr();
  {
    Progress progress("reading", 10, "images");
    for (uint64_t i = 0; i < 10; ++i) progress.At(i);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace kindred

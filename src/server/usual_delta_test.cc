#include "server/usual_delta.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

TEST(UsualDelta, OfARoundIsTheLowerMedianOfItsUpdates) {
  EXPECT_EQ(UsualOf({{3, 10}, {40, 800}, {1, 1}, {2, 20}}), (UsualDelta{2, 10}));
  EXPECT_EQ(UsualOf({{5, 7}}), (UsualDelta{5, 7}));
}

TEST(UsualDelta, OneRoundsMeasureDoesNotMoveThatOfFive) {
  RecentDeltas recent;
  for (const double norm : {2.0, 2.1, 1.9, 2.0, 2.2}) AddRound(recent, {norm, 30});
  EXPECT_EQ(UsualNow(recent, 10, 0), (UsualDelta{2, 30}));
  AddRound(recent, {1e-9, 1});  // the first 2.0 is gone
  EXPECT_EQ(UsualNow(recent, 10, 0), (UsualDelta{2, 30}));
  AddRound(recent, {1e9, 1});
  EXPECT_EQ(UsualNow(recent, 10, 0), (UsualDelta{2, 30}));
  EXPECT_EQ(recent.size(), 5u);
}

TEST(UsualDelta, IsTheModelsNormBeforeAnyRound) {
  EXPECT_EQ(UsualNow({}, 60, 1), (UsualDelta{60, 0}));
}

TEST(UsualDelta, HasAFloorThatFallsWithTheRootOfTheRate) {
  const RecentDeltas tiny = {{1e-6, 1}, {0, 1}};
  EXPECT_DOUBLE_EQ(UsualNow(tiny, 60, 1).norm, 3);         // 60 / 20
  EXPECT_DOUBLE_EQ(UsualNow(tiny, 60, 0.0625).norm, .75);  // a quarter of it
  EXPECT_DOUBLE_EQ(UsualNow({{5, 1}}, 60, 1).norm, 5);
}

}  // namespace
}  // namespace kindred

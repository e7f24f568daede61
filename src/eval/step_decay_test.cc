#include "eval/step_decay.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

TEST(StepDecay, FallsAtSixtyAndEightyPercent) {
  EXPECT_EQ(StepDecay(0, 100, 0.1), 1);
  EXPECT_EQ(StepDecay(59, 100, 0.1), 1);
  EXPECT_EQ(StepDecay(60, 100, 0.1), 0.1);
  EXPECT_EQ(StepDecay(79, 100, 0.1), 0.1);
  EXPECT_EQ(StepDecay(80, 100, 0.1), 0.1 * 0.1);
  EXPECT_EQ(StepDecay(11, 20, 0.2), 1);
  EXPECT_EQ(StepDecay(12, 20, 0.2), 0.2);
  EXPECT_EQ(StepDecay(16, 20, 0.2), 0.2 * 0.2);
  EXPECT_EQ(StepDecay(0, 1, 0.2), 1) << "a single epoch is not a decayed one";
  EXPECT_EQ(StepDecay(0, 2, 0.2), 1);
  EXPECT_EQ(StepDecay(1, 2, 0.2), 1);
}

}  // namespace
}  // namespace kindred

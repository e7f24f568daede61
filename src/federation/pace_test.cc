#include "federation/pace.h"

#include <gtest/gtest.h>

#include <memory>

namespace kindred {
namespace {

TEST(Pace, WhatIsOverIsCutOnceWhateverItsPace) {
  Pace pace({.rate_window = 3600});
  int cuts = 0;
  Paced transfer([&] { ++cuts; }, false);
  pace.Add(&transfer);
  const auto over = std::make_shared<std::atomic<bool>>(false);
  pace.EndWith(&transfer, over);
  pace.Look(0);
  EXPECT_EQ(cuts, 0);
  *over = true;
  pace.Look(0);
  pace.Look(0);
  EXPECT_EQ(cuts, 1);
  EXPECT_TRUE(transfer.cut);
  pace.Remove(&transfer);
}

TEST(Pace, WhoMovesNothingIsCutUnlessItWaitsForUs) {
  Pace pace({.min_rate = 1, .rate_window = 0});
  int cuts = 0, others = 0, fast = 0;
  Paced silent([&] { ++cuts; }, true), waits([&] { ++others; }, true), moves([&] { ++fast; }, true);
  waits.waiting = true;
  for (Paced* each : {&silent, &waits, &moves}) pace.Add(each);
  moves.moved = 1 << 30;
  pace.Look(0);
  EXPECT_EQ(cuts, 1);
  EXPECT_EQ(others, 0);
  EXPECT_EQ(fast, 0);
  for (Paced* each : {&silent, &waits, &moves}) pace.Remove(each);
}

}  // namespace
}  // namespace kindred

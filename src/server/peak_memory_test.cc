#include "server/peak_memory.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

TEST(PeakMemory, HandValues) {
  // Three models of 4 bytes a value and the sum's 16: 28 x 1000.
  MemoryNeed need = {.values = 1000, .clients = 10, .in_round = 4};
  EXPECT_EQ(PeakMemory(need), 28000u);
  need.upload_budget = 500;
  EXPECT_EQ(PeakMemory(need), 28500u);
  // Rows of 32 bytes: 10 x 5 in the pool, 4 x 5 that came in; a bank of 9 x 5 is above the budget
  // and goes out alone, four banks of 7 are cut to a budget of 500, and fit one of 5000.
  need.features = 5;
  need.features_width = 8;
  EXPECT_EQ(PeakMemory(need), 28500u + 32 * (50 + 20 + 45));
  need.max_remote = 7;
  EXPECT_EQ(PeakMemory(need), 28500u + 32 * (50 + 20) + 500);
  need.upload_budget = 5000;
  EXPECT_EQ(PeakMemory(need), 33000u + 32 * (50 + 20 + 28));
  // The robust rules hold the four models of a round.
  for (const char* rule : {"median", "trimmed", "krum"}) {
    need.rule.rule = rule;
    EXPECT_EQ(PeakMemory(need), 12000u + 4 * 4000 + 5000 + 32 * (50 + 20 + 28)) << rule;
  }
  // The mean holds a few back until it knows who arrived, no more than a round has.
  need.rule.rule = "mean";
  need.held_back = 2;
  EXPECT_EQ(PeakMemory(need), 28000u + 3 * 4000 + 5000 + 32 * (50 + 20 + 28));
  need.held_back = 9;
  EXPECT_EQ(PeakMemory(need), 28000u + 4 * 4000 + 5000 + 32 * (50 + 20 + 28));
  need.rule.rule = "krum";
  // An optimiser keeps one or two floats per value.
  for (const auto& [optimizer, bytes] : {std::pair{"momentum", 4000u}, {"yogi", 8000u}}) {
    need.optimizer.optimizer = optimizer;
    EXPECT_EQ(PeakMemory(need), 12000u + 4 * 4000 + bytes + 5000 + 32 * (50 + 20 + 28));
  }
}

}  // namespace
}  // namespace kindred

#include "server/peak_memory.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

TEST(PeakMemory, HandValues) {
  // Two models of 4 bytes a value and the sum's 16: 24 x 1000.
  MemoryNeed need = {.values = 1000, .clients = 10, .in_round = 4};
  EXPECT_EQ(PeakMemory(need), 24000u);
  need.upload_budget = 500;
  EXPECT_EQ(PeakMemory(need), 24500u);
  // Rows of 32 bytes: 10 x 5 in the pool, 4 x 5 that came in, 9 x 5 out to each of 4.
  need.features = 5;
  need.features_width = 8;
  EXPECT_EQ(PeakMemory(need), 24500u + 32 * (50 + 20 + 180));
  need.max_remote = 7;
  EXPECT_EQ(PeakMemory(need), 24500u + 32 * (50 + 20 + 28));
  // The robust rules hold the four models of a round.
  for (const char* rule : {"median", "trimmed", "krum"}) {
    need.rule.rule = rule;
    EXPECT_EQ(PeakMemory(need), 8000u + 4 * 4000 + 500 + 32 * (50 + 20 + 28)) << rule;
  }
}

}  // namespace
}  // namespace kindred

#include "ranks/deal.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

Partition OfSizes(const std::vector<size_t>& sizes) {
  Partition partition;
  for (const size_t size : sizes) partition.clients.emplace_back(size, 0);
  return partition;
}

TEST(DealClients, LargestFirstToWhoHasLeast) {
  // 9 -> 0; 7 -> 1; 6 -> 1 (7 < 9); 5 -> 0 (9 < 13); 1 -> 1 (13 < 14)
  EXPECT_EQ(DealClients(OfSizes({5, 9, 7, 1, 6}), 2), (std::vector<int>{0, 0, 1, 1, 1}));
}

TEST(DealClients, EqualClientsAreDealtInTurn) {
  EXPECT_EQ(DealClients(OfSizes({4, 4, 4, 4, 4}), 2), (std::vector<int>{0, 1, 0, 1, 0}));
  EXPECT_EQ(DealClients(OfSizes({4, 4, 4}), 1), (std::vector<int>{0, 0, 0}));
}

TEST(DealClients, MoreRanksThanClientsLeavesSomeWithout) {
  EXPECT_EQ(DealClients(OfSizes({3, 8}), 4), (std::vector<int>{1, 0}));
}

}  // namespace
}  // namespace kindred

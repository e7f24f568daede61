#include "server/client_sampling.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace kindred {
namespace {

TEST(ClientSampling, TakesTheRoundedShare) {
  // {clients, beta, how many}
  struct Case {
    int clients;
    double participation;
    size_t count;
  };
  for (const auto& each : std::vector<Case>{{10, 1.0, 10},
                                            {10, 0.5, 5},
                                            {10, 0.34, 3},
                                            {10, 0.36, 4},
                                            {10, 0.05, 1},
                                            {3, 0.5, 2},
                                            {1000, 0.001, 1},
                                            {1000, 0.01, 10},
                                            {1, 0.1, 1}}) {
    EXPECT_EQ(SampleClients(each.clients, each.participation, 0, 1).size(), each.count)
        << each.clients << " " << each.participation;
  }
}

TEST(ClientSampling, ATinyShareStillGivesOne) {
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(SampleClients(100, 1e-9, round, 1).size(), 1u);
  }
}

TEST(ClientSampling, ClientsAreDifferentAndInRisingOrder) {
  for (int round = 0; round < 50; ++round) {
    const auto chosen = SampleClients(30, 0.4, round, 7);
    ASSERT_EQ(chosen.size(), 12u);
    EXPECT_GE(chosen.front(), 0);
    EXPECT_LT(chosen.back(), 30);
    for (size_t i = 1; i < chosen.size(); ++i) EXPECT_LT(chosen[i - 1], chosen[i]);
  }
}

TEST(ClientSampling, AllClientsAreAllClients) {
  const auto chosen = SampleClients(6, 1, 3, 1);
  EXPECT_EQ(chosen, (std::vector<int>{0, 1, 2, 3, 4, 5}));
}

TEST(ClientSampling, DependsOnRoundAndSeedAlone) {
  std::set<std::vector<int>> choices;
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(SampleClients(100, 0.2, round, 5), SampleClients(100, 0.2, round, 5));
    choices.insert(SampleClients(100, 0.2, round, 5));
    choices.insert(SampleClients(100, 0.2, round, 6));
  }
  EXPECT_EQ(choices.size(), 40u);
}

// Each of 10 clients takes part in 3 of 10 of 3000 rounds: 900 times, deviation
// sqrt(3000 x 0.3 x 0.7) = 25. Each pair meets with probability 3/10 x 2/9: 200 times, deviation
// 13.7.
TEST(ClientSampling, EveryClientIsChosenEquallyOften) {
  constexpr int kRounds = 3000;
  std::vector<std::vector<int>> together(10, std::vector<int>(10, 0));
  for (int round = 0; round < kRounds; ++round) {
    const auto chosen = SampleClients(10, 0.3, round, 11);
    for (const int a : chosen) {
      for (const int b : chosen) ++together[static_cast<size_t>(a)][static_cast<size_t>(b)];
    }
  }
  for (size_t a = 0; a < 10; ++a) {
    EXPECT_NEAR(together[a][a], 900, 5 * 25.1) << a;
    for (size_t b = 0; b < a; ++b) EXPECT_NEAR(together[a][b], 200, 5 * 13.7) << a << " " << b;
  }
}

}  // namespace
}  // namespace kindred

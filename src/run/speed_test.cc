#include "run/speed.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

std::string TextOf(const std::vector<Spending>& ways) {
  std::string text;
  for (const auto& [engine, workers, threads, cores, rate] : ways) {
    text += fmt::format("{} {}x{} by {}, ", engine, workers, threads, cores);
  }
  return text;
}

TEST(WaysToSpend, AreWhatTrainWorkersDoesWithSoManyClients) {
  EXPECT_EQ(TextOf(WaysToSpend(1, 5)), "fast 1x1 by 1, torch 1x1 by 1, ");
  EXPECT_EQ(TextOf(WaysToSpend(2, 5)),
            "fast 1x1 by 1, fast 2x1 by 2, fast 1x2 by 2, torch 1x1 by 1, torch 2x1 by 2, ");
  EXPECT_EQ(TextOf(WaysToSpend(2, 1)), "fast 1x1 by 1, fast 1x2 by 2, torch 1x1 by 1, ");
  EXPECT_EQ(TextOf(WaysToSpend(8, 3)),
            "fast 1x1 by 1, fast 2x1 by 2, fast 3x1 by 4, fast 3x2 by 8, fast 1x8 by 8, "
            "torch 1x1 by 1, torch 2x1 by 2, torch 3x1 by 4, ");
}

TEST(BestFor, AdvisesAWayThatARoundOfTheseClientsTakes) {
  auto ways = WaysToSpend(2, 5);
  const double rates[] = {50, 80, 100, 40, 70};  // one client with two threads has the most
  for (size_t i = 0; i < ways.size(); ++i) ways[i].images_per_second = rates[i];
  EXPECT_EQ(&BestFor(5, ways), &ways[1]) << "five clients would not get two threads each";
  EXPECT_EQ(&BestFor(1, ways), &ways[2]);
  ways[3].images_per_second = 200;
  EXPECT_EQ(BestFor(5, ways).cores, 1) << "as the table says, though it leaves a core idle";
}

TEST(SideOf, IsTheDatasetsOwnUnlessAskedOtherwise) {
  EXPECT_EQ(SideOf({.name = "fashion-mnist"}), 28);
  EXPECT_EQ(SideOf({.name = "cifar10"}), 32);
  EXPECT_EQ(SideOf({.name = "folder"}), 32);
  EXPECT_EQ(SideOf({.name = "fashion-mnist", .size = 40}), 40);
}

TEST(UsualClients, AreThoseOfARound) {
  Experiment experiment;
  EXPECT_EQ(UsualClients(experiment), 5);
  experiment.partition.clients = 20;
  experiment.train.participation = 0.1;
  EXPECT_EQ(UsualClients(experiment), 2);
}

}  // namespace
}  // namespace kindred

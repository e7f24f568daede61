#include "partition/by_class.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/throws.h"

namespace kindred {
namespace {

PartitionInput Input(const std::vector<int>& labels, int classes) {
  return {.images = static_cast<int>(labels.size()), .labels = labels, .classes = classes};
}

std::vector<int> Labels(int classes, int each) {
  std::vector<int> labels;
  for (int i = 0; i < classes * each; ++i) labels.push_back(i % classes);
  return labels;
}

// owners[l]: how many images of class l each client owns.
std::map<int, std::map<int, int>> Owners(const Partition& partition,
                                         const std::vector<int>& labels) {
  std::map<int, std::map<int, int>> owners;
  for (int c = 0; c < partition.Clients(); ++c) {
    for (const int i : partition.clients[static_cast<size_t>(c)]) {
      ++owners[labels[static_cast<size_t>(i)]][c];
    }
  }
  return owners;
}

TEST(NonIid1, FiveClientsWithAFifthOfTheClassesEachNoneShared) {
  for (const int classes : {10, 100}) {
    const auto labels = Labels(classes, 6);
    const Partition partition = DealNonIid1(Input(labels, classes));
    EXPECT_EQ(partition.Clients(), 5);
    for (const auto& [label, clients] : Owners(partition, labels)) {
      ASSERT_EQ(clients.size(), 1u) << label;
      EXPECT_EQ(clients.begin()->second, 6);
    }
    for (const auto& own : partition.clients) {
      EXPECT_EQ(static_cast<int>(own.size()), classes / 5 * 6);
    }
  }
}

TEST(NonIid2, TenClientsAndEveryClassOnTwoOfThemInHalves) {
  for (const int classes : {10, 100}) {
    const auto labels = Labels(classes, 8);
    const Partition partition = DealNonIid2(Input(labels, classes));
    EXPECT_EQ(partition.Clients(), 10);
    for (const auto& [label, clients] : Owners(partition, labels)) {
      ASSERT_EQ(clients.size(), 2u) << label;
      for (const auto& [client, images] : clients) EXPECT_EQ(images, 4);
    }
    for (const auto& own : partition.clients) {
      EXPECT_EQ(static_cast<int>(own.size()), classes / 5 * 4);
    }
  }
}

TEST(OneClass, EachClassIsOneClients) {
  const auto labels = Labels(7, 6);
  PartitionInput input = Input(labels, 7);
  const Partition partition = DealOneClass(input);
  EXPECT_EQ(partition.Clients(), 7);
  for (const auto& [label, clients] : Owners(partition, labels)) {
    ASSERT_EQ(clients.size(), 1u) << label;
    EXPECT_EQ(clients.begin()->second, 6);
  }
  input.options.clients = 5;
  ExpectError(ExitCode::kUsage, "one client for each of the 7 classes",
              [&] { DealOneClass(input); });
}

// Hands that need cards of two decks are the hard case: 10 classes, 4 a client.
TEST(DealClasses, NoHandHoldsAClassTwiceAndAllAreDealtEquallyOften) {
  for (const auto& [classes, clients, each] :
       {std::tuple{10, 5, 4}, {10, 5, 2}, {3, 3, 2}, {7, 7, 6}, {10, 10, 9}, {6, 4, 6}}) {
    for (uint64_t seed = 0; seed < 50; ++seed) {
      std::map<int, int> dealt;
      for (const auto& hand : DealClasses(classes, clients, each, seed)) {
        EXPECT_EQ(static_cast<int>(std::set<int>(hand.begin(), hand.end()).size()), each);
        for (const int l : hand) ++dealt[l];
      }
      ASSERT_EQ(static_cast<int>(dealt.size()), classes);
      for (const auto& [label, times] : dealt) EXPECT_EQ(times, clients * each / classes);
    }
  }
}

}  // namespace
}  // namespace kindred

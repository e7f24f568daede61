#include "federation/connections.h"

#include <gtest/gtest.h>

#include "transport/refusal.h"

namespace kindred {
namespace {

Peer From(uint16_t port) { return {.address = {}, .port = port}; }

TEST(Connections, AClientHasSoManyAndNoMoreUntilOneEnds) {
  Connections connections(2);
  for (const uint16_t port : {1, 2, 3, 4, 5}) {
    connections.Open(From(port));
    connections.Hear(From(port));
  }
  connections.Assign(From(1), 7);
  connections.Assign(From(1), 7);  // another call over it
  connections.Assign(From(2), 7);
  EXPECT_THROW(connections.Assign(From(3), 7), Refused);
  EXPECT_NO_THROW(connections.Assign(From(3), 8)) << "another client's";
  EXPECT_TRUE(connections.Forget(From(1)));
  EXPECT_NO_THROW(connections.Assign(From(4), 7));
  EXPECT_THROW(connections.Assign(From(5), 7), Refused);
}

TEST(Connections, WhoseCallsAreRefusedIsHeardAndHasNoBytes) {
  Connections connections(2);
  EXPECT_FALSE(connections.Forget(From(1)));
  connections.Open(From(1));
  EXPECT_FALSE(connections.Forget(From(1))) << "it made no call";
  connections.Open(From(1));
  connections.Hear(From(1));
  EXPECT_EQ(connections.Accounted(From(1)), 0u);
  connections.Account(From(1), 1000);
  connections.Account(From(1), 80);
  EXPECT_EQ(connections.Accounted(From(1)), 1000u + 125 + 64 + 80 + 10 + 64);
  EXPECT_TRUE(connections.Forget(From(1)));
  EXPECT_EQ(connections.Accounted(From(1)), 0u);
}

// A port may come again before the end of its former connection was noticed.
TEST(Connections, OneThatIsOpenedAgainIsTheFormerNoMore) {
  Connections connections(1);
  connections.Open(From(1));
  connections.Assign(From(1), 7);
  connections.Open(From(1));
  connections.Open(From(2));
  EXPECT_NO_THROW(connections.Assign(From(2), 7)) << "the former does not count";
}

TEST(Connections, AreClosedOnceAfterAWhileUnlessTheyHaveEnded) {
  Connections connections(2);
  const auto now = Connections::Clock::time_point() + std::chrono::seconds(100);
  connections.Open(From(1));
  connections.Open(From(2));
  connections.CloseSoon(From(1), now);
  connections.CloseSoon(From(2), now);
  connections.CloseSoon(From(1),
                        now + std::chrono::seconds(60));  // another call does not put it off
  EXPECT_TRUE(connections.Due(now).empty()) << "its client could not read why";
  connections.Forget(From(2));
  EXPECT_EQ(connections.Due(now + std::chrono::seconds(5)), std::vector<Peer>{From(1)});
  EXPECT_TRUE(connections.Due(now + std::chrono::seconds(5)).empty());
}

// A flood of calls is worked off when its connection is long closed.
TEST(Connections, CallsThatComeLateAreOfNoConnection) {
  Connections connections(1);
  connections.Open(From(1));
  connections.Forget(From(1));
  connections.Hear(From(1));
  EXPECT_NO_THROW(connections.Assign(From(1), 7));
  connections.Account(From(1), 1000);
  connections.CloseSoon(From(1), {});
  EXPECT_TRUE(connections.Due(Connections::Clock::time_point::max()).empty());
  EXPECT_EQ(connections.Accounted(From(1)), 0u);
  connections.Open(From(2));
  EXPECT_NO_THROW(connections.Assign(From(2), 7)) << "the first does not count";
}

}  // namespace
}  // namespace kindred

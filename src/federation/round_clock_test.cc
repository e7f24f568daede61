#include "federation/round_clock.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

using std::chrono::seconds;

const EnrolledNames kAllEnrolled = {{0, "c0"}, {1, "c1"}, {2, "c2"}};
const RoundClock::Clock::time_point kBegun = RoundClock::Clock::time_point(seconds(1000));
const CoordinatorOptions kTwoNeeded = {.min_clients = 2, .deadline = 60, .patience = 10};

Roster JoinedBy(const std::vector<int>& clients) {
  Roster roster(kTwoNeeded, {});
  for (const int client : clients) roster.Join({client, kAllEnrolled.at(client)}, 10);
  return roster;
}

TEST(ClientWait, TheFirstRoundWaitsForAllWithPatience) {
  Roster roster = JoinedBy({0, 1});
  ClientWait wait(kTwoNeeded, kBegun);
  auto state = wait.Update(roster, kAllEnrolled, kBegun);
  EXPECT_FALSE(state.clients);
  EXPECT_NE(state.news.find("2 of 3 enrolled"), std::string::npos) << state.news;
  EXPECT_EQ(wait.Update(roster, kAllEnrolled, kBegun + seconds(9)).news, "") << "told already";
  EXPECT_EQ(wait.Update(roster, kAllEnrolled, kBegun + seconds(11)).clients,
            (std::vector<int>{0, 1}));
  roster.Join({2, "c2"}, 10);
  EXPECT_EQ(ClientWait(kTwoNeeded, kBegun).Update(roster, kAllEnrolled, kBegun).clients,
            (std::vector<int>{0, 1, 2}));
}

TEST(ClientWait, ARunUnderWayNeedsOnlyEnough) {
  Roster roster = JoinedBy({0, 1});
  roster.Count(0);
  EXPECT_TRUE(ClientWait(kTwoNeeded, kBegun).Update(roster, kAllEnrolled, kBegun).clients);
}

TEST(ClientWait, TellsAgainWhenPatienceIsOverAndAlarmsOnce) {
  Roster roster = JoinedBy({0, 1});
  roster.Strike(1, Refusal::kNorm, kBegun);
  ClientWait wait(kTwoNeeded, kBegun);
  const auto state = wait.Update(roster, kAllEnrolled, kBegun);
  EXPECT_NE(state.alarm.find("c1 (norm)"), std::string::npos) << state.alarm;
  EXPECT_NE(wait.Update(roster, kAllEnrolled, kBegun + seconds(11)).news, "");
  const auto later = wait.Update(roster, kAllEnrolled, kBegun + seconds(12));
  EXPECT_TRUE(later.news.empty() && later.alarm.empty());
}

// A round that asks three clients, of whom it needs two.
struct Asked {
  Roster roster = JoinedBy({0, 1, 2});
  OpenRound round;
  Chosen chosen = {.clients = {0, 1, 2}, .wanted = 3};
  RoundClock clock{kTwoNeeded, chosen, kBegun};

  Asked() {
    for (const int client : chosen.clients) round.parts[client] = {};
  }
  RoundStatus After(int64_t passed) const {
    return clock.Status(round, roster, kAllEnrolled, kBegun + seconds(passed));
  }
};

TEST(RoundClock, ItIsOverWhenAllThatAreWantedCount) {
  Asked asked;
  EXPECT_EQ(asked.After(0), RoundStatus::kOpen);
  for (auto& [client, part] : asked.round.parts) part.accepted = "digest";
  EXPECT_EQ(asked.After(0), RoundStatus::kEnough);
}

TEST(RoundClock, EnoughWaitForTheSlowUntilTheDeadlineAndForTheSilentNever) {
  Asked asked;
  asked.round.parts[0].accepted = asked.round.parts[1].accepted = "digest";
  EXPECT_EQ(asked.After(59), RoundStatus::kOpen);
  EXPECT_EQ(asked.After(60), RoundStatus::kEnough);
  asked.roster.Miss(2);
  asked.roster.Miss(2);
  EXPECT_EQ(asked.After(0), RoundStatus::kEnough);
}

TEST(RoundClock, TooFewAreWaitedForAsLongAsEnoughCouldCome) {
  Asked asked;
  asked.round.parts[0].accepted = "digest";
  EXPECT_EQ(asked.After(59), RoundStatus::kOpen);
  EXPECT_EQ(asked.After(60), RoundStatus::kTooFew);
  asked.round.parts[1].streaming = true;
  EXPECT_EQ(asked.After(119), RoundStatus::kOpen) << "it would have to come again";
  EXPECT_EQ(asked.After(120), RoundStatus::kTooFew);
  asked.round.parts[1].refused = true;
  asked.roster.Leave(2);
  EXPECT_EQ(asked.After(0), RoundStatus::kTooFew) << "nobody else can come";
}

TEST(RoundClock, WaitedForAreTheSilentAndAfterTheDeadlineAll) {
  Asked asked;
  const auto waited_for = [&](int64_t passed) {
    return asked.clock.WaitedFor(asked.roster, kAllEnrolled, kBegun + seconds(passed));
  };
  EXPECT_EQ(waited_for(59), std::vector<int>{});
  EXPECT_EQ(waited_for(60), (std::vector<int>{0, 1, 2}));
  asked.roster.Miss(1);
  asked.roster.Miss(1);
  asked.roster.Leave(2);
  EXPECT_EQ(waited_for(0), std::vector<int>{1});
  EXPECT_EQ(waited_for(60), (std::vector<int>{0, 1}));
}

}  // namespace
}  // namespace kindred

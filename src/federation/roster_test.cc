#include "federation/roster.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

using std::chrono::seconds;

const EnrolledNames kThree = {{0, "c0"}, {1, "c1"}, {2, "c2"}};
const Roster::Clock::time_point kNoon = Roster::Clock::time_point(seconds(1000));

Caller CallerAt(int place) { return {place, kThree.at(place)}; }

Roster RosterOf(const std::vector<int>& joined, const CoordinatorOptions& options = {}) {
  Roster roster(options, {});
  for (const int place : joined) roster.Join(CallerAt(place), 10);
  return roster;
}

std::string WordFor(const std::function<void()>& call) {
  try {
    call();
  } catch (const Refused& why) {
    return WordOf(why.reason);
  }
  return "";
}

TEST(Roster, ExpectsTheEnrolledAndAsksThoseWhoJoined) {
  Roster roster = RosterOf({0, 2});
  auto present = roster.FindPresent(kThree, kNoon);
  EXPECT_EQ(present.clients, (std::vector<int>{0, 2}));
  EXPECT_EQ(present.expected, 3) << "one has not come yet";
  EXPECT_FALSE(present.begun);
  roster.Leave(2);
  roster.Count(0);
  present = roster.FindPresent(kThree, kNoon);
  EXPECT_EQ(present.clients, std::vector<int>{0});
  EXPECT_EQ(present.expected, 2) << "one has left";
  EXPECT_TRUE(present.begun);
  EXPECT_EQ(roster.FindPresent({{2, "c2"}}, kNoon).expected, 0) << "the others were revoked";
}

// The first round begins when all who are expected are there: one that sits out must not be.
TEST(Roster, WhoWasRefusedSitsOutTheRoundAndIsNotExpected) {
  Roster roster = RosterOf({0, 1, 2}, {.deadline = 60});
  roster.Strike(1, Refusal::kNorm, kNoon);
  auto present = roster.FindPresent(kThree, kNoon + seconds(59));
  EXPECT_EQ(present.clients, (std::vector<int>{0, 2}));
  EXPECT_EQ(present.expected, 2);
  EXPECT_EQ(present.sitting, (std::map<std::string, Refusal>{{"c1", Refusal::kNorm}}));
  EXPECT_EQ(roster.at(1).strikes, 1);
  // However often the round is tried, a strike a deadline.
  present = roster.FindPresent(kThree, kNoon + seconds(60));
  EXPECT_EQ(present.clients, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(present.expected, 3);
  EXPECT_TRUE(present.sitting.empty());
  roster.EndRound();
  EXPECT_EQ(roster.FindPresent(kThree, kNoon).clients.size(), 3u) << "the next round asks it";
}

TEST(Roster, SaysWhoIsMissingWhyAndWhatToDo) {
  Roster roster = RosterOf({0, 1}, {.min_clients = 2, .deadline = 60});
  roster.Strike(1, Refusal::kValues, kNoon);
  const std::string why = roster.StuckMessage(roster.FindPresent(kThree, kNoon));
  for (const char* part : {"1 clients may take part and a round needs 2", "c1 (values)",
                           "server.deadline = 60 s", "lower server.min_clients"}) {
    EXPECT_NE(why.find(part), std::string::npos) << why;
  }
}

TEST(Roster, TellsWhyAClientIsOut) {
  Roster roster = RosterOf({0, 1, 2}, {.strikes = 2});
  EXPECT_FALSE(roster.ReasonOut(0, kThree));
  EXPECT_EQ(roster.ReasonOut(0, {{1, "c1"}})->reason, Refusal::kRevoked);
  roster.Leave(1);
  EXPECT_EQ(roster.ReasonOut(1, kThree)->reason, Refusal::kMember);
  roster.Strike(2, Refusal::kNorm, kNoon);
  EXPECT_FALSE(roster.ReasonOut(2, kThree));
  roster.Strike(2, Refusal::kNorm, kNoon);
  EXPECT_EQ(roster.ReasonOut(2, kThree)->reason, Refusal::kStrikes);
  EXPECT_EQ(RosterOf({}).ReasonOut(0, kThree)->reason, Refusal::kMember);
}

TEST(Roster, WhoIsThrownOutStaysOut) {
  Roster roster = RosterOf({0}, {.strikes = 1});
  roster.Strike(0, Refusal::kNorm, kNoon);
  EXPECT_EQ(WordFor([&] { roster.CheckIn(CallerAt(0)); }), "strikes");
  EXPECT_EQ(WordFor([&] { roster.Join(CallerAt(0), 10); }), "strikes");
  EXPECT_EQ(roster.FindPresent(kThree, kNoon + std::chrono::hours(9)).expected, 2);
}

TEST(Roster, MembersComeWithTheImagesTheyEnrolledWith) {
  Roster roster = RosterOf({0}, {.max_images = 100});
  EXPECT_EQ(WordFor([&] { roster.Join(CallerAt(0), 11); }), "images");
  EXPECT_EQ(WordFor([&] { roster.Join(CallerAt(1), 101); }), "images");
  EXPECT_EQ(WordFor([&] { roster.Join({1, "c1", 20}, 10); }), "images");
  EXPECT_EQ(WordFor([&] { roster.CheckIn(CallerAt(1)); }), "member");
  EXPECT_EQ(WordFor([&] { roster.CheckIn({0, "c0", 20}); }), "member") << "enrolled anew since";
  EXPECT_EQ(WordFor([&] { roster.Join({0, "c0", 20}, 20); }), "");
  EXPECT_EQ(roster.at(0).images, 20);
}

// Two rounds are waited for, and one more when it calls; whoever only calls is not waited for.
TEST(Roster, TheSilentAreAskedAgainWhenTheyCallAndWaitedForOnce) {
  Roster roster = RosterOf({0, 1});
  roster.Miss(1);
  EXPECT_FALSE(roster.IsSilent(1));
  roster.Miss(1);
  EXPECT_TRUE(roster.IsSilent(1));
  EXPECT_EQ(roster.FindPresent(kThree, kNoon).clients, std::vector<int>{0});
  roster.CheckIn(CallerAt(1));
  EXPECT_FALSE(roster.IsSilent(1));
  EXPECT_EQ(roster.FindPresent(kThree, kNoon).clients, (std::vector<int>{0, 1}));
  roster.Miss(1);
  roster.CheckIn(CallerAt(1));
  EXPECT_TRUE(roster.IsSilent(1));
  EXPECT_EQ(roster.FindPresent(kThree, kNoon).clients, (std::vector<int>{0, 1}))
      << "asked all the same";
  roster.Count(1);
  EXPECT_FALSE(roster.IsSilent(1));
}

TEST(Roster, TwoProcessesOfOneClientThatTakeTurnsAreToldOnce) {
  Roster roster = RosterOf({0, 1});
  const auto heard = [&](int place, const std::string& process) {
    Caller caller = CallerAt(place);
    caller.process = process;
    return roster.IsUsedTwice(caller);
  };
  EXPECT_FALSE(heard(0, "a"));
  EXPECT_FALSE(heard(0, "a"));
  EXPECT_FALSE(heard(0, "b")) << "started again";
  EXPECT_FALSE(heard(0, "c")) << "and again";
  EXPECT_FALSE(heard(1, "b")) << "another client";
  EXPECT_FALSE(heard(0, "")) << "says nothing of it";
  EXPECT_TRUE(heard(0, "b")) << "it had not ended";
  EXPECT_FALSE(heard(0, "c")) << "told already";
}

TEST(Roster, StrikesForDistanceAreTakenBackWhenMostOfARoundIsRefusedForIt) {
  Roster roster = RosterOf({0, 1, 2});
  roster.Strike(0, Refusal::kNorm, kNoon);
  roster.Strike(1, Refusal::kNorm, kNoon);
  roster.Strike(2, Refusal::kValues, kNoon);
  EXPECT_EQ(roster.TakeBackStrikes(2), 0);
  EXPECT_EQ(roster.at(0).strikes, 1);
  EXPECT_EQ(roster.TakeBackStrikes(1), 2);
  EXPECT_EQ(roster.TakeBackStrikes(1), 0) << "once";
  EXPECT_EQ(roster.at(0).strikes, 0);
  EXPECT_EQ(roster.at(1).strikes, 0);
  EXPECT_EQ(roster.at(2).strikes, 1) << "NaN stays NaN";
}

}  // namespace
}  // namespace kindred

#include "wire/kept_round.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/folders.h"

namespace kindred {
namespace {

KeptRound Kept(int round) {
  KeptRound kept = {.run = "run-1", .round = round, .plan = "p", .upload = "u"};
  kept.start = {{"bank", torch::full({4}, static_cast<float>(round))}};
  kept.end = {{"bank", torch::full({4}, static_cast<float>(round + 1))}};
  kept.update.header.set_images(10 + round);
  kept.update.bytes = Bytes(1000, static_cast<uint8_t>(round));
  return kept;
}

TEST(KeptRound, ComesBackWhole) {
  const auto folder = TestFolder();
  KeepRound(folder.path(), Kept(3));
  const auto kept = LoadKeptRound(folder.path(), "run-1", 3);
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->round, 3);
  EXPECT_EQ(kept->plan, "p");
  EXPECT_EQ(kept->upload, "u");
  EXPECT_EQ(DigestOf(kept->start), DigestOf(Kept(3).start));
  EXPECT_EQ(DigestOf(kept->end), DigestOf(Kept(3).end));
  EXPECT_EQ(kept->update.header.images(), 13);
  EXPECT_EQ(kept->update.bytes, Kept(3).update.bytes);
}

TEST(KeptRound, TwoStayAndLaterOnesAreNotTakenForAnEarlierRound) {
  const auto folder = TestFolder();
  for (int round = 8; round < 12; ++round) KeepRound(folder.path(), Kept(round));
  EXPECT_EQ(FilesBelow(folder.path()), (std::set<std::string>{"round-10.kept", "round-11.kept"}));
  EXPECT_EQ(LoadKeptRound(folder.path(), "run-1", 12)->round, 11);
  EXPECT_EQ(LoadKeptRound(folder.path(), "run-1", 10)->round, 10);
  EXPECT_FALSE(LoadKeptRound(folder.path(), "run-1", 9));
  EXPECT_FALSE(LoadKeptRound(folder.path(), "run-2", 12));
}

TEST(KeptRound, WhatAKilledWriteLeftGoes) {
  const auto folder = TestFolder();
  WriteFileAtomically(folder.path() / ".tmp-0123456789abcdef", std::string_view("half"));
  KeepRound(folder.path(), Kept(1));
  EXPECT_EQ(FilesBelow(folder.path()), (std::set<std::string>{"round-1.kept"}));
}

// A flipped bit or a cut anywhere: the one before it is taken.
TEST(KeptRound, ADamagedOneIsNotTaken) {
  const auto folder = TestFolder();
  KeepRound(folder.path(), Kept(1));
  KeepRound(folder.path(), Kept(2));
  const auto path = folder.path() / "round-2.kept";
  const Bytes whole = ReadFile(path, 1 << 20);
  for (size_t at = 0; at < whole.size(); at += 97) {
    Bytes damaged = whole;
    damaged[at] ^= 4;
    WriteFileAtomically(path, damaged);
    EXPECT_EQ(LoadKeptRound(folder.path(), "run-1", 2)->round, 1) << at;
    WriteFileAtomically(path, std::span(whole).first(at));
    EXPECT_EQ(LoadKeptRound(folder.path(), "run-1", 2)->round, 1) << at;
  }
}

TEST(PlanDigest, DependsOnWhatIsTrainedOnAndNotOnTheNonce) {
  v1::PlanReply plan;
  plan.set_round(3);
  plan.set_lr(0.5);
  plan.set_model_digest("m");
  plan.set_remote_digest("b");
  plan.set_nonce("n");
  const std::string digest = PlanDigest("run", plan, "s");
  plan.set_nonce("another");
  EXPECT_EQ(PlanDigest("run", plan, "s"), digest);
  EXPECT_NE(PlanDigest("run", plan, "t"), digest);
  EXPECT_NE(PlanDigest("other", plan, "s"), digest);
  for (const auto& change :
       {+[](v1::PlanReply& p) { p.set_round(4); }, +[](v1::PlanReply& p) { p.set_lr(0.25); },
        +[](v1::PlanReply& p) { p.set_model_digest("x"); },
        +[](v1::PlanReply& p) { p.set_remote_digest("x"); }}) {
    v1::PlanReply other = plan;
    change(other);
    EXPECT_NE(PlanDigest("run", other, "s"), digest);
  }
}

}  // namespace
}  // namespace kindred

#include "federation/remote_downloads.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace kindred {
namespace {

constexpr uint64_t kRowsBytes = 4 * 4 * 4;  // of each client's features

Plan PlanWithRows() {
  Plan plan = {.model = {{"w", torch::ones({2})}}};
  plan.remote.rows = torch::eye(4);
  return plan;
}

UploadShape ShapeWithRows() {
  return {.manifest = ManifestOf(PlanWithRows().model, Precision::kFloat), .width = 4};
}

std::string CheckDownload(RemoteDownloads& downloads, RoundPlans& plans, int client) {
  try {
    downloads.Begin(plans, client);
  } catch (const Refused& why) {
    return WordOf(why.reason);
  }
  return "";
}

TEST(RemoteDownloads, OneAlwaysFitsAndOthersWithinTheBudget) {
  const PlanFor plan_for = [](int) { return PlanWithRows(); };
  RoundPlans plans(plan_for, PlanWithRows(), ShapeWithRows());
  RemoteDownloads none(0);
  auto first = none.Begin(plans, 0);
  EXPECT_EQ(first->size(), kRowsBytes);
  EXPECT_EQ(CheckDownload(none, plans, 1), "busy");
  first.reset();
  EXPECT_EQ(CheckDownload(none, plans, 1), "");
  RemoteDownloads two(2 * kRowsBytes);
  const auto second = two.Begin(plans, 0), third = two.Begin(plans, 1);
  EXPECT_EQ(two.Bytes(), 2 * kRowsBytes);
  EXPECT_EQ(CheckDownload(two, plans, 2), "busy");
}

// Or many that begin at once would all find the same room.
TEST(RemoteDownloads, RoomIsTakenBeforeTheBytesAreMade) {
  RemoteDownloads downloads(0);
  std::vector<uint64_t> taken;
  const PlanFor plan_for = [&](int) {
    taken.push_back(downloads.Bytes());
    return PlanWithRows();
  };
  RoundPlans plans(plan_for, PlanWithRows(), ShapeWithRows());
  downloads.Begin(plans, 0);
  EXPECT_EQ(taken, (std::vector<uint64_t>{0, kRowsBytes})) << "the reply, then the bytes";
  EXPECT_EQ(downloads.Bytes(), 0u);
}

TEST(RemoteDownloads, WhatFailsTakesNoRoom) {
  int lookups = 0;
  const PlanFor plan_for = [&](int) {
    if (++lookups == 2) throw std::bad_alloc();
    return PlanWithRows();
  };
  RoundPlans plans(plan_for, PlanWithRows(), ShapeWithRows());
  RemoteDownloads downloads(0);
  EXPECT_THROW(downloads.Begin(plans, 0), std::bad_alloc);
  EXPECT_EQ(downloads.Bytes(), 0u);
  plans.Close();
  EXPECT_EQ(CheckDownload(downloads, plans, 0), "round");
  EXPECT_EQ(downloads.Bytes(), 0u);
}

}  // namespace
}  // namespace kindred

#include "federation/round_plans.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <atomic>
#include <future>
#include <thread>

namespace kindred {
namespace {

const NamedTensors kPlansModel = {{"w", torch::ones({2, 2})}};
const UploadShape kPlansShape = {.manifest = ManifestOf(kPlansModel, Precision::kFloat),
                                 .width = 4};

Plan PlanWith(const at::Tensor& rows = {}) {
  Plan plan = {.round = 2, .rounds = 3, .lr = 0.5, .model = kPlansModel};
  plan.remote.rows = rows;
  return plan;
}

TEST(RoundPlans, AReplyTellsWhatIsToBeFetched) {
  const PlanFor plan_for = [](int client) {
    return client == 1 ? PlanWith(torch::eye(4).slice(0, 0, 3)) : PlanWith();
  };
  RoundPlans plans(plan_for, plan_for(0), kPlansShape);
  const auto reply = plans.ReplyTo(1);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->state(), v1::PlanReply::TRAIN);
  EXPECT_EQ(reply->round(), 2u);
  EXPECT_EQ(reply->lr(), 0.5);
  EXPECT_EQ(reply->nonce(), plans.nonce());
  EXPECT_EQ(reply->model_bytes(), 2u * 2 * 4);
  EXPECT_EQ(reply->model_digest(), plans.model()->Digest());
  EXPECT_EQ(reply->remote_rows(), 3u);
  EXPECT_EQ(reply->remote_bytes(), 3u * 4 * 4);
  EXPECT_EQ(reply->remote_digest(), plans.RemoteOf(1)->Digest());
  EXPECT_EQ(plans.ReplyTo(0)->remote_bytes(), 0u);
  EXPECT_NE(RoundPlans(plan_for, plan_for(0), kPlansShape).nonce(), plans.nonce());
}

TEST(RoundPlans, AReplyIsMadeOnce) {
  int lookups = 0;
  const PlanFor plan_for = [&](int) {
    ++lookups;
    return PlanWith();
  };
  RoundPlans plans(plan_for, PlanWith(), kPlansShape);
  plans.ReplyTo(1);
  plans.ReplyTo(1);
  EXPECT_EQ(lookups, 1);
  plans.ReplyTo(2);
  EXPECT_EQ(lookups, 2);
}

TEST(RoundPlans, ALookupThatFailsIsOver) {
  const PlanFor plan_for = [](int) -> Plan { throw std::bad_alloc(); };
  RoundPlans plans(plan_for, PlanWith(), kPlansShape);
  EXPECT_THROW(plans.ReplyTo(1), std::bad_alloc);
  plans.Close();  // would wait for ever
  EXPECT_FALSE(plans.ReplyTo(1));
}

TEST(RoundPlans, CloseWaitsForLookupsAndLetsNobodyIn) {
  std::promise<void> entered, may_leave;
  const PlanFor plan_for = [&](int client) {
    if (client == 1) {
      entered.set_value();
      may_leave.get_future().wait();
    }
    return PlanWith();
  };
  RoundPlans plans(plan_for, PlanWith(), kPlansShape);
  std::optional<v1::PlanReply> reply = v1::PlanReply();
  std::thread asks([&] { reply = plans.ReplyTo(1); });
  entered.get_future().wait();
  std::atomic<bool> closed = false;
  std::thread closes([&] {
    plans.Close();
    closed = true;
  });
  while (plans.RemoteOf(2)) std::this_thread::yield();
  EXPECT_FALSE(closed);
  may_leave.set_value();
  asks.join();
  closes.join();
  EXPECT_FALSE(reply) << "the round is over";
}

}  // namespace
}  // namespace kindred

#include "server/capped_rule.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>

#include "model/named_tensors.h"

namespace kindred {
namespace {

NamedTensors ModelOf(int client) {
  return {{"w", torch::arange(6, torch::kFloat) * 0.37f + static_cast<float>(client)}};
}

NamedTensors MeanOf(const std::map<int, int64_t>& images, const ShareLimits& limits,
                    const std::vector<int>& order, std::map<int, int64_t>* cut = nullptr) {
  CappedRule rule(MakeRule({}), limits, {0, 1, 2, 3, 4});
  for (const int client : order) rule.Add(client, ModelOf(client), images.at(client));
  auto mean = rule.Finish();
  if (cut != nullptr) *cut = rule.Cut();
  return mean;
}

// The plain rule, told the weights.
NamedTensors PlainMeanOf(const std::map<int, int64_t>& weights) {
  const auto rule = MakeRule({});
  for (const auto& [client, weight] : weights) rule->Add(client, ModelOf(client), weight);
  return rule->Finish();
}

TEST(CappedRule, IsThePlainRuleWithTheCutWeightsInAnyOrder) {
  const std::map<int, int64_t> images = {{0, 50}, {1, 900}, {2, 7}, {3, 900}, {4, 100000}};
  for (const ShareLimits& limits :
       {ShareLimits{}, ShareLimits{.claimed = 0.5}, ShareLimits{.any = 0.3},
        ShareLimits{.any = 0.25, .claimed = 0.4}, ShareLimits{.any = 0.01}}) {
    const auto weights = CappedWeights(images, limits, {0, 1, 2, 3, 4});
    const auto expected = DigestOf(PlainMeanOf(weights));
    std::vector<int> order = {0, 1, 2, 3, 4};
    do {
      ASSERT_EQ(DigestOf(MeanOf(images, limits, order)), expected);
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

// Where nobody exceeds the limit nothing changes, to the bit.
TEST(CappedRule, TellsWhomItCut) {
  std::map<int, int64_t> cut;
  MeanOf({{0, 100}, {1, 200}, {2, 300}}, {.claimed = 0.5}, {2, 0, 1}, &cut);
  EXPECT_TRUE(cut.empty());
  MeanOf({{0, 100}, {1, 200}, {2, 4194304}}, {.claimed = 0.5}, {2, 0, 1}, &cut);
  EXPECT_EQ(cut, (std::map<int, int64_t>{{2, 300}}));
}

// An arrival's model may live in the bytes of an upload, which are used again.
TEST(CappedRule, KeepsCopiesOfWhatItHoldsBack) {
  CappedRule rule(MakeRule({}), {.claimed = 0.5}, {0});
  auto bytes = torch::ones({3});
  rule.Add(0, {{"w", bytes}}, 10);
  bytes.fill_(7);
  EXPECT_TRUE(rule.Finish().at("w").equal(torch::ones({3})));
}

}  // namespace
}  // namespace kindred

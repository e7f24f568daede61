#include "aggregate/rule.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "aggregate/trimmed_mean.h"
#include "base/rng.h"
#include "tests/throws.h"

namespace kindred {
namespace {

struct RuleUpdate {
  int client;
  NamedTensors model;
  int64_t weight;
};

// Honest clients: values around .5 with a deviation of .1, positive variances, counters.
std::vector<RuleUpdate> HonestUpdates(int count, int64_t size = 700) {
  std::vector<RuleUpdate> updates;
  for (int c = 0; c < count; ++c) {
    Rng rng({.seed = 3, .purpose = Purpose::kInit, .client = static_cast<uint32_t>(c)});
    auto values = torch::empty({size}), variances = torch::empty({2, 3});
    for (int64_t i = 0; i < size; ++i) {
      values.data_ptr<float>()[i] = static_cast<float>(rng.Uniform(0.4, 0.6));
    }
    for (int64_t i = 0; i < 6; ++i) {
      variances.data_ptr<float>()[i] = static_cast<float>(rng.Uniform(1e-9, 1e-8));
    }
    updates.push_back({10 + 3 * c,
                       {{"a", values},
                        {"bn.running_var", variances},
                        {"n", torch::tensor({int64_t{c}, int64_t{7 - c}}, torch::kInt64)}},
                       1 + 17 * c});
  }
  return updates;
}

NamedTensors ApplyRule(const RuleOptions& options, const std::vector<RuleUpdate>& updates) {
  const auto rule = MakeRule(options);
  for (const auto& each : updates) rule->Add(each.client, Clone(each.model), each.weight);
  return rule->Finish();
}

// The largest |difference| of the values named "a".
double FarFrom(const NamedTensors& a, const NamedTensors& b) {
  return (a.at("a") - b.at("a")).abs().max().item<double>();
}

TEST(Rules, KeepTensorsCountersAndPositiveVariances) {
  for (const auto& kind : RuleKinds()) {
    for (const int count : {5, 6, 9}) {
      SCOPED_TRACE(fmt::format("{} {}", kind.name, count));
      const auto model = ApplyRule({.rule = kind.name}, HonestUpdates(count));
      ASSERT_EQ(model.size(), 3u);
      EXPECT_EQ(model.at("a").sizes(), (std::vector<int64_t>{700}));
      EXPECT_EQ(model.at("bn.running_var").sizes(), (std::vector<int64_t>{2, 3}));
      EXPECT_TRUE((model.at("bn.running_var") > 0).all().item<bool>());
      EXPECT_TRUE(torch::equal(model.at("n"), torch::tensor({int64_t{count - 1}, int64_t{7}})));
      EXPECT_GE(model.at("a").min().item<float>(), 0.4f);
      EXPECT_LE(model.at("a").max().item<float>(), 0.6f);
    }
  }
}

TEST(Rules, OrderOfArrivalChangesNoBit) {
  for (const auto& kind : RuleKinds()) {
    auto updates = HonestUpdates(8);
    const auto expected = DigestOf(ApplyRule({.rule = kind.name}, updates));
    Rng rng({.seed = 1, .purpose = Purpose::kOrder});
    for (int shuffle = 0; shuffle < 5; ++shuffle) {
      rng.Shuffle(std::span(updates));
      EXPECT_EQ(DigestOf(ApplyRule({.rule = kind.name}, updates)), expected) << kind.name;
    }
  }
}

TEST(Rules, MergingPartsOfOtherProcessesIsAddingAll) {
  const auto updates = HonestUpdates(9);
  for (const auto& kind : RuleKinds()) {
    const std::string all = DigestOf(ApplyRule({.rule = kind.name}, updates));
    for (const size_t parts : {2, 4, 12}) {  // of 12 some have none
      std::vector<std::unique_ptr<Aggregate>> rules;
      for (size_t i = 0; i < parts; ++i) rules.push_back(MakeRule({.rule = kind.name}));
      for (size_t i = 0; i < updates.size(); ++i) {
        const RuleUpdate& each = updates[i];
        rules[i % parts]->Add(each.client, Clone(each.model), each.weight);
      }
      for (size_t i = 1; i < parts; ++i) rules[0]->Merge(rules[i]->Part());
      EXPECT_EQ(DigestOf(rules[0]->Finish()), all) << kind.name << " " << parts;
    }
  }
}

TEST(Rules, OneHostileClientMovesTheMeanAlone) {
  const auto honest = HonestUpdates(7);
  const std::pair<const char*, std::function<at::Tensor(const at::Tensor&)>> attacks[] = {
      {"scaled", [](const at::Tensor& a) { return a * 1e6f; }},
      {"flipped", [](const at::Tensor& a) { return -30 * a; }},
      {"constant", [](const at::Tensor& a) { return torch::full_like(a, 9.0f); }}};
  for (const auto& kind : RuleKinds()) {
    const NamedTensors clean = ApplyRule({.rule = kind.name}, honest);
    for (const auto& [attack, change] : attacks) {
      auto updates = honest;
      updates[2].weight = 1000;
      updates[2].model.at("a") = change(updates[2].model.at("a")).clamp(-1e6f, 1e6f);
      const NamedTensors moved = ApplyRule({.rule = kind.name}, updates);
      if (std::string(kind.name) == "mean") {
        EXPECT_GT(FarFrom(moved, clean), 1) << attack;
      } else {
        // Between values of honest clients.
        EXPECT_LE(FarFrom(moved, clean), 0.2) << kind.name << ' ' << attack;
        EXPECT_GE(moved.at("a").min().item<float>(), 0.4f) << kind.name << ' ' << attack;
        EXPECT_LE(moved.at("a").max().item<float>(), 0.6f) << kind.name << ' ' << attack;
      }
    }
  }
}

// theta - (theta_c - theta) is as far from theta as an honest update: no bound on norms sees it.
// Here theta is 0.
TEST(Rules, AnUpdateTurnedAroundMovesTheMeanAlone) {
  for (const auto& kind : RuleKinds()) {
    auto updates = HonestUpdates(7);
    updates[2].model.at("a") *= -1;
    const NamedTensors moved = ApplyRule({.rule = kind.name}, updates);
    const bool honest = moved.at("a").min().item<float>() >= 0.4f;
    EXPECT_EQ(honest, std::string(kind.name) != "mean") << kind.name;
    EXPECT_LE(moved.at("a").max().item<float>(), 0.6f) << kind.name;
  }
}

TEST(Rules, WeightsCountForTheMeanAlone) {
  auto updates = HonestUpdates(5);
  for (const auto& kind : RuleKinds()) {
    const auto before = DigestOf(ApplyRule({.rule = kind.name}, updates));
    auto other = updates;
    other[1].weight += 1000;
    EXPECT_EQ(DigestOf(ApplyRule({.rule = kind.name}, other)) != before,
              std::string(kind.name) == "mean")
        << kind.name;
  }
}

TEST(Rules, AreRefusedWhereARoundHasTooFewClients) {
  CheckRule({.rule = "mean"}, 1);
  CheckRule({.rule = "krum", .byzantine = 1}, 5);
  ExpectError(ExitCode::kUsage, "needs 5 clients per round, but there are 4",
              [] { CheckRule({.rule = "krum", .byzantine = 1}, 4); });
  ExpectError(ExitCode::kUsage, "needs 3 clients", [] { CheckRule({.rule = "median"}, 2); });
  ExpectError(ExitCode::kUsage, "no such rule", [] { MakeRule({.rule = "mode"}); });
}

// The equation again, as plain loops.
TEST(Median, IsThatOfPlainLoops) {
  for (const int count : {1, 2, 3, 4, 7, 10}) {
    const auto updates = HonestUpdates(count);
    const auto model = ApplyRule({.rule = "median"}, updates);
    for (int64_t i = 0; i < 700; ++i) {
      std::vector<float> values;
      for (const auto& each : updates) values.push_back(each.model.at("a").data_ptr<float>()[i]);
      std::sort(values.begin(), values.end());
      const auto n = values.size();
      const double expected =
          n % 2 == 1
              ? values[n / 2]
              : (static_cast<double>(values[n / 2 - 1]) + static_cast<double>(values[n / 2])) / 2;
      ASSERT_EQ(model.at("a").data_ptr<float>()[i], static_cast<float>(expected)) << count;
    }
  }
}

TEST(TrimmedMean, IsThatOfPlainLoops) {
  // Clients, share, and how many are left out at each end.
  const std::tuple<int, double, size_t> cases[] = {{5, 0.2, 1},  {5, 0.0, 0},  {6, 0.2, 2},
                                                   {10, 0.1, 1}, {3, 0.49, 1}, {4, 0.49, 1},
                                                   {2, 0.3, 0},  {1, 0.3, 0}};
  for (const auto& [count, share, cut] : cases) {
    SCOPED_TRACE(fmt::format("{} {}", count, share));
    EXPECT_EQ(TrimmedAtEachEnd(share, static_cast<size_t>(count)), cut);
    const auto updates = HonestUpdates(count);
    const auto model = ApplyRule({.rule = "trimmed", .trim = share}, updates);
    for (int64_t i = 0; i < 700; ++i) {
      std::vector<double> values;
      for (const auto& each : updates) values.push_back(each.model.at("a").data_ptr<float>()[i]);
      std::sort(values.begin(), values.end());
      double sum = 0;
      for (size_t r = cut; r < values.size() - cut; ++r) sum += values[r];
      ASSERT_NEAR(model.at("a").data_ptr<float>()[i],
                  sum / static_cast<double>(values.size() - 2 * cut), 1e-7);
    }
  }
  EXPECT_EQ(TrimmedAtEachEnd(0.1, 30), 3u) << "3.0000000000000004 is 3";
}

// The equation again, as plain loops; then the model is one client's, bit for bit.
TEST(Krum, TakesTheModelOfPlainLoops) {
  for (const int count : {5, 7, 10}) {
    for (const int f : {0, 1, 2}) {
      if (count < 2 * f + 3) continue;
      auto updates = HonestUpdates(count);
      for (int hostile = 0; hostile < f; ++hostile) {
        updates[static_cast<size_t>(2 * hostile)].model.at("a").add_(5);
      }
      std::vector<std::pair<double, size_t>> scores;
      for (size_t c = 0; c < updates.size(); ++c) {
        std::vector<double> distances;
        for (size_t j = 0; j < updates.size(); ++j) {
          if (j == c) continue;
          double sum = 0;
          for (const char* name : {"a", "bn.running_var"}) {
            const auto &x = updates[c].model.at(name), &y = updates[j].model.at(name);
            sum += (x - y).to(torch::kDouble).pow(2).sum().item<double>();
          }
          distances.push_back(sum);
        }
        std::sort(distances.begin(), distances.end());
        double score = 0;
        for (int i = 0; i < count - f - 2; ++i) score += distances[static_cast<size_t>(i)];
        scores.emplace_back(score, c);
      }
      const size_t best = std::min_element(scores.begin(), scores.end())->second;
      const auto model = ApplyRule({.rule = "krum", .byzantine = f}, updates);
      EXPECT_TRUE(torch::equal(model.at("a"), updates[best].model.at("a"))) << count << ' ' << f;
      EXPECT_EQ(model.at("n")[0].item<int64_t>(), count - 1) << "counters: the maximum";
    }
  }
}

TEST(Krum, WithTooFewUpdatesIsTheMedianNotTheMean) {
  const auto updates = HonestUpdates(4);
  EXPECT_EQ(DigestOf(ApplyRule({.rule = "krum", .byzantine = 1}, updates)),
            DigestOf(ApplyRule({.rule = "median"}, updates)));
}

}  // namespace
}  // namespace kindred

#include "aggregate/weighted_mean.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/rng.h"
#include "tests/throws.h"

namespace kindred {
namespace {

NamedTensors MeanOf(const std::vector<std::pair<NamedTensors, int64_t>>& models) {
  WeightedMean mean;
  for (const auto& [model, weight] : models) mean.Add(model, weight);
  return mean.Finish();
}

float OneMean(const std::vector<std::pair<float, int64_t>>& values) {
  WeightedMean mean;
  for (const auto& [value, weight] : values) mean.Add({{"a", torch::full({1}, value)}}, weight);
  return mean.Finish().at("a").item<float>();
}

// Values of magnitudes 1e-12 to 1e4, some of them negative, zero or denormal.
float MeanValue(Rng& rng) {
  if (rng.Chance(0.05)) return 0;
  if (rng.Chance(0.05)) return std::numeric_limits<float>::denorm_min() * 1000;
  const double value = std::pow(10, rng.Uniform(-12, 4));
  return static_cast<float>(rng.Chance(0.5) ? -value : value);
}

struct WeightedModel {
  NamedTensors model;
  int64_t weight;
};

std::vector<WeightedModel> MeanModels(int count, int64_t size) {
  std::vector<WeightedModel> models;
  for (int i = 0; i < count; ++i) {
    Rng rng({.seed = 5, .purpose = Purpose::kInit, .sample = static_cast<uint64_t>(i)});
    auto tensor = torch::empty({size});
    for (int64_t j = 0; j < size; ++j) tensor.data_ptr<float>()[j] = MeanValue(rng);
    models.push_back({{{"a", tensor}, {"n", torch::full({1}, i % 7, torch::kInt64)}},
                      static_cast<int64_t>(1 + rng.Below(100000))});
  }
  return models;
}

TEST(WeightedMean, HandValue) {
  // (1 x 2 + 3 x 6) / 4 = 5; (1 x -1 + 3 x 1) / 4 = 0.5; (1 x 0 + 3 x 4) / 4 = 3
  const auto mean = MeanOf({{{{"a", torch::tensor({2.0f, -1.0f, 0.0f})}}, 1},
                            {{{"a", torch::tensor({6.0f, 1.0f, 4.0f})}}, 3}});
  EXPECT_TRUE(torch::equal(mean.at("a"), torch::tensor({5.0f, 0.5f, 3.0f})));
}

TEST(WeightedMean, WeighsClientsByTheirImages) {
  // 0 weighs 999 times as much as 1000.
  EXPECT_EQ(OneMean({{0.0f, 999}, {1000.0f, 1}}), 1.0f);
  EXPECT_EQ(OneMean({{0.0f, 1}, {1000.0f, 999}}), 999.0f);
  // Weights count, not models: one of weight 3 is three of weight 1.
  EXPECT_EQ(OneMean({{0.3f, 3}, {0.7f, 1}}), OneMean({{0.3f, 1}, {0.3f, 1}, {0.3f, 1}, {0.7f, 1}}));
  WeightedMean mean;
  mean.Add({{"a", torch::ones({1})}}, 5);
  mean.Add({{"a", torch::ones({1})}}, 7);
  EXPECT_EQ(mean.Weight(), 12);
}

TEST(WeightedMean, KeepsNamesShapesAndKinds) {
  const auto mean = MeanOf({{{{"matrix", torch::ones({2, 3, 4})},
                              {"scalar", torch::ones({})},
                              {"empty", torch::ones({0, 2})},
                              {"count", torch::ones({}, torch::kInt64)}},
                             4}});
  ASSERT_EQ(mean.size(), 4u);
  EXPECT_EQ(mean.at("matrix").sizes(), (std::vector<int64_t>{2, 3, 4}));
  EXPECT_EQ(mean.at("scalar").dim(), 0);
  EXPECT_EQ(mean.at("empty").sizes(), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(mean.at("count").dim(), 0);
  EXPECT_EQ(mean.at("count").scalar_type(), torch::kInt64);
  EXPECT_EQ(mean.at("matrix").scalar_type(), torch::kFloat32);
}

TEST(WeightedMean, OrderOfAddingChangesNoBit) {
  auto models = MeanModels(20, 500);
  std::string expected;
  Rng rng({.seed = 1, .purpose = Purpose::kOrder});
  for (int shuffle = 0; shuffle < 20; ++shuffle) {
    WeightedMean mean;
    for (const auto& each : models) mean.Add(each.model, each.weight);
    const auto digest = DigestOf(mean.Finish());
    if (shuffle == 0) expected = digest;
    EXPECT_EQ(digest, expected) << shuffle;
    rng.Shuffle(std::span(models));
  }
  ++models[0].weight;
  WeightedMean other;
  for (const auto& each : models) other.Add(each.model, each.weight);
  EXPECT_NE(DigestOf(other.Finish()), expected) << "the test must be able to see a bit";
}

TEST(WeightedMean, MergingGroupsIsAddingAllBitForBit) {
  const auto models = MeanModels(20, 500);
  WeightedMean all;
  for (const auto& each : models) all.Add(each.model, each.weight);
  for (const size_t groups : {1, 2, 3, 7, 20}) {
    std::vector<WeightedMean> parts(groups);
    for (size_t i = 0; i < models.size(); ++i) {
      parts[i % groups].Add(models[i].model, models[i].weight);
    }
    WeightedMean merged;
    for (const auto& part : parts) merged.Merge(part.Part());
    EXPECT_EQ(merged.Weight(), all.Weight());
    EXPECT_EQ(DigestOf(merged.Finish()), DigestOf(all.Finish())) << groups;
  }
}

TEST(WeightedMean, MergingNothingChangesNothing) {
  WeightedMean mean;
  mean.Add({{"a", torch::full({1}, 3.0f)}}, 2);
  mean.Merge(WeightedMean().Part());
  EXPECT_EQ(mean.Weight(), 2);
  EXPECT_EQ(mean.Finish().at("a").item<float>(), 3);
  WeightedMean empty;
  empty.Merge(mean.Part());
  EXPECT_EQ(DigestOf(empty.Finish()), DigestOf(mean.Finish()));
}

TEST(WeightedMean, IsTheMeanWithinAnUlp) {
  constexpr int64_t kSize = 5000;
  const auto models = MeanModels(20, kSize);
  WeightedMean mean;
  for (const auto& each : models) mean.Add(each.model, each.weight);
  const auto taken = mean.Finish();
  const float* got = taken.at("a").data_ptr<float>();
  for (int64_t j = 0; j < kSize; ++j) {
    // long double has 64 bits; what 20 sums of it may lose is allowed beside the float's ulp, and
    // so are the 2^-80 that a value below 2^-57 may.
    long double sum = 0, weight = 0, size = 0;
    for (const auto& each : models) {
      const auto value = static_cast<long double>(each.model.at("a").data_ptr<float>()[j]);
      const auto w = static_cast<long double>(each.weight);
      sum += w * value;
      size += w * std::abs(value);
      weight += w;
    }
    const auto expected = static_cast<float>(sum / weight);
    const float ulp = std::nextafter(std::abs(expected), 1e30f) - std::abs(expected);
    const long double allowed =
        static_cast<long double>(ulp) + 20 * 0x1p-63L * size / weight + 0x1p-79L;
    EXPECT_LE(std::abs(static_cast<long double>(got[j]) - sum / weight), allowed)
        << j << ": " << got[j] << ", not " << expected;
  }
}

TEST(WeightedMean, OneModelIsItselfBitForBit) {
  std::vector<float> values = {0.0f,           1.0f,
                               -1.0f,          0x1p-57f,
                               -0x1p-57f,      0x1.fffffep-57f,
                               0x1.fffffep19f, -0x1.fffffep19f,
                               1.0f / 3,       0x1.000002p-40f};
  Rng rng({.seed = 2, .purpose = Purpose::kInit});
  for (int i = 0; i < 20000; ++i) {
    const double value = std::ldexp(rng.Uniform(1, 2), static_cast<int>(rng.Below(76)) - 57);
    const auto rounded = static_cast<float>(rng.Chance(0.5) ? -value : value);
    if (std::abs(rounded) < 0x1p20f) values.push_back(rounded);
  }
  const auto model = NamedTensors{{"a", torch::tensor(values)}};
  for (const int64_t weight : {int64_t{1}, int64_t{3}, int64_t{12345}, (int64_t{1} << 26) - 1}) {
    EXPECT_EQ(DigestOf(MeanOf({{model, weight}})), DigestOf(model)) << weight;
  }
  // Equal models have their own mean.
  EXPECT_EQ(DigestOf(MeanOf({{model, 7}, {model, 11}, {model, 13}})), DigestOf(model));
}

TEST(WeightedMean, LargestValuesAndWeightsDoNotOverflow) {
  // 2^20 and 2^26 less a little: 126 bits.
  constexpr float kMost = 0x1.fffffep19f;
  constexpr int64_t kHalf = (int64_t{1} << 25) - 1;
  EXPECT_EQ(OneMean({{kMost, kHalf}, {kMost, kHalf}}), kMost);
  EXPECT_EQ(OneMean({{-kMost, kHalf}, {-kMost, kHalf}}), -kMost);
  EXPECT_EQ(OneMean({{kMost, kHalf}, {-kMost, kHalf}}), 0);
  // What is left after cancelling is exact: (2^19 - 2^19 + 3) / 3.
  EXPECT_EQ(OneMean({{0x1p19f, 1}, {-0x1p19f, 1}, {3.0f, 1}}), 1.0f);
}

TEST(WeightedMean, TinyValuesLoseTheirLastBitsAlone) {
  for (const float value : {0x1.fffffep-58f, 0x1.234568p-70f, 0x1p-80f, 0x1.8p-90f, 1e-45f}) {
    EXPECT_NEAR(OneMean({{value, 1}}), value, 0x1p-80) << value;
    EXPECT_EQ(OneMean({{-value, 1}}), -OneMean({{value, 1}})) << value;
  }
  EXPECT_EQ(OneMean({{0x1p-80f, 1}}), 0x1p-80f);
}

TEST(WeightedMean, CountersGiveTheirMaximum) {
  const auto counter = [](int64_t a, int64_t b) {
    return NamedTensors{{"n", torch::tensor({a, b}, torch::kInt64)}};
  };
  const int64_t large = int64_t{1} << 60;
  const auto mean = MeanOf({{counter(3, -5), 1}, {counter(large, -9), 100}, {counter(4, -7), 2}});
  EXPECT_TRUE(torch::equal(mean.at("n"), torch::tensor({large, int64_t{-5}}, torch::kInt64)));
  WeightedMean a, b;
  a.Add(counter(1, 8), 1);
  b.Add(counter(2, 7), 1);
  a.Merge(b.Part());
  EXPECT_TRUE(torch::equal(a.Finish().at("n"), torch::tensor({2, 8}, torch::kInt64)));
}

TEST(WeightedMean, RefusesWhatDivergingTrainingSends) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), kInfinity, -kInfinity, 0x1p20f,
                          -0x1p20f, std::numeric_limits<float>::max()}) {
    auto tensor = torch::ones({100});
    tensor[99] = bad;
    ExpectError(ExitCode::kUsage, "layer.weight holds", [&] {
      WeightedMean().Add({{"layer.weight", tensor}}, 1);
    });
    ExpectError(ExitCode::kUsage, "lower train.lr", [&] {
      WeightedMean().Add({{"layer.weight", tensor}}, 1);
    });
  }
}

TEST(WeightedMean, TakingTwiceGivesTheSame) {
  WeightedMean mean;
  mean.Add({{"a", torch::ones({2})}}, 1);
  const auto first = mean.Finish();
  first.at("a").fill_(9);
  EXPECT_EQ(mean.Finish().at("a")[0].item<float>(), 1);
  mean.Add({{"a", torch::full({2}, 3.0f)}}, 1);
  EXPECT_EQ(mean.Finish().at("a")[0].item<float>(), 2);
}

}  // namespace
}  // namespace kindred

#include "server/update_checks.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <limits>

namespace kindred {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

NamedTensors CheckedModel() {
  return {{"q/conv.weight", torch::arange(12, torch::kFloat).view({3, 4}) / 10},
          {"q/bn.running_mean", torch::zeros({5})},
          {"q/bn.running_var", torch::ones({5})},
          {"q/bn.num_batches_tracked", torch::full({}, 40, torch::kInt64)}};
}

// An update of 20 images in 2 epochs of batches of 5 that moved the model by 5.
Arrival HonestArrival() {
  Arrival arrival = {.client = 3,
                     .model = CheckedModel(),
                     .features = torch::eye(8, 6).slice(0, 0, 6),
                     .report = {.images = 20,
                                .loss = 2.5,
                                .steps = 8,
                                .seen = 40,
                                .metrics = {{"feature_rank", 3.5}, {"not_measured", NAN}}}};
  arrival.model.at("q/conv.weight")[1][2] += 3;
  arrival.model.at("q/bn.running_mean")[4] = -4;
  arrival.model.at("q/bn.num_batches_tracked") += 16;
  return arrival;
}

struct Checked {
  NamedTensors global = CheckedModel();
  UpdateLimits limits = {.global = global,
                         .enrolled = 20,
                         .most_images = 1000,
                         .epochs = 2,
                         .batch = 5,
                         .features_width = 6,
                         .features_most = 6};
  Arrival arrival = HonestArrival();

  std::string Why() const {
    const auto why = CheckUpdate(arrival, limits);
    return why ? TextOf(*why) : "";
  }
};

// Why an update is refused after a change.
std::string WhyAfter(const std::function<void(Checked&)>& change) {
  Checked checked;
  change(checked);
  return checked.Why();
}

TEST(CheckUpdate, AChannelThatWakesUpDoesNotOutweighTheWeights) {
  // From 1 to 101 a variance moves by 100, its root by 9.05; with the 5 of the rest 10.34.
  Checked checked;
  checked.arrival.model.at("q/bn.running_var")[1] = 101.0f;
  checked.limits.max_norm = 10.4;
  EXPECT_EQ(checked.Why(), "");
  checked.limits.max_norm = 10.3;
  EXPECT_EQ(checked.Why().find("norm: 10.34"), 0u) << checked.Why();
}

TEST(CheckUpdate, AnHonestOneCountsAndItsNormIsGiven) {
  const Checked checked;
  double norm = 0;
  EXPECT_FALSE(CheckUpdate(checked.arrival, checked.limits, &norm));
  EXPECT_NEAR(norm, 5, 1e-6);  // 3 and 4, statistics included
  EXPECT_EQ(WhyAfter([](Checked& c) { c.arrival.features = at::Tensor(); }), "");
  EXPECT_EQ(WhyAfter([](Checked& c) { c.limits.enrolled = 0; }), "") << "not known";
}

TEST(CheckUpdate, OtherTensorsThanTheGlobalModels) {
  EXPECT_EQ(WhyAfter([](Checked& c) { c.arrival.model.erase("q/bn.running_var"); }),
            "manifest: q/bn.running_var is missing");
  EXPECT_EQ(WhyAfter([](Checked& c) {
              c.arrival.model["q/\x1b[2J"] = torch::zeros({1});
            }).find("manifest: q/"),
            0u);
  EXPECT_EQ(
      WhyAfter([](Checked& c) { c.arrival.model["q/\x1b[2J"] = torch::zeros({1}); }).find('\x1b'),
      std::string::npos)
      << "shown, not obeyed";
  EXPECT_EQ(WhyAfter([](Checked& c) { c.arrival.model.clear(); }).find("manifest: "), 0u);
  EXPECT_EQ(WhyAfter([](Checked& c) {
              auto& tensor = c.arrival.model.at("q/conv.weight");
              tensor = tensor.view({4, 3});
            }),
            "manifest: q/conv.weight is [4, 3], not [3, 4]");
  EXPECT_EQ(WhyAfter([](Checked& c) {
              auto& tensor = c.arrival.model.at("q/conv.weight");
              tensor = tensor.t();
            }),
            "manifest: q/conv.weight is not a resting tensor");
  EXPECT_EQ(WhyAfter([](Checked& c) {
              auto& tensor = c.arrival.model.at("q/conv.weight");
              tensor = tensor.to(torch::kInt64);
            }),
            "manifest: q/conv.weight is int64, not float32");
  EXPECT_EQ(WhyAfter([](Checked& c) {
              auto& tensor = c.arrival.model.at("q/conv.weight");
              tensor = tensor.to(torch::kDouble);
            }),
            "manifest: q/conv.weight is of another kind, not float32");
  EXPECT_EQ(WhyAfter([](Checked& c) { c.arrival.model.at("q/conv.weight") = at::Tensor(); }),
            "manifest: q/conv.weight is not a resting tensor");
}

TEST(CheckUpdate, ValuesThatNoMeanTakes) {
  for (const float bad : {NAN, INFINITY, -INFINITY, 0x1p20f, -3e38f}) {
    const std::string why =
        WhyAfter([&](Checked& c) { c.arrival.model.at("q/conv.weight")[2][3] = bad; });
    EXPECT_EQ(why.find(fmt::format("values: q/conv.weight holds {}", bad)), 0u) << why;
    EXPECT_NE(why.find("lower train.lr"), std::string::npos) << why;
  }
}

TEST(CheckUpdate, VariancesThatAreNotPositive) {
  for (const float bad : {0.0f, -0.0f, -1e-20f, -1.0f}) {
    const std::string why =
        WhyAfter([&](Checked& c) { c.arrival.model.at("q/bn.running_var")[1] = bad; });
    EXPECT_EQ(why.find("values: q/bn.running_var holds"), 0u) << bad;
  }
  EXPECT_EQ(WhyAfter([](Checked& c) { c.arrival.model.at("q/bn.running_var")[1] = 1e-44f; }), "");
}

TEST(CheckUpdate, CountersThatNoRoundReaches) {
  for (const int64_t bad : {int64_t{-1}, int64_t{1} << 40, std::numeric_limits<int64_t>::max(),
                            std::numeric_limits<int64_t>::min()}) {
    const std::string why =
        WhyAfter([&](Checked& c) { c.arrival.model.at("q/bn.num_batches_tracked").fill_(bad); });
    EXPECT_EQ(why.find("values: q/bn.num_batches_tracked holds"), 0u) << bad;
  }
  // The global counter at its limit does not overflow, and does not shut honest clients out.
  EXPECT_EQ(WhyAfter([](Checked& c) {
              c.global.at("q/bn.num_batches_tracked").fill_((int64_t{1} << 59));
              c.arrival.model.at("q/bn.num_batches_tracked").fill_((int64_t{1} << 59) + 16);
            }),
            "");
}

TEST(CheckUpdate, ImagesThatWereNotEnrolledOrHaveNoRoom) {
  EXPECT_EQ(WhyAfter([](Checked& c) { c.arrival.report.images = 21; }),
            "images: 21, enrolled with 20");
  for (const int64_t bad : {int64_t{0}, int64_t{-5}, std::numeric_limits<int64_t>::min()}) {
    EXPECT_EQ(WhyAfter([&](Checked& c) {
                c.arrival.report.images = bad;
                c.limits.enrolled = 0;
              }),
              fmt::format("images: {}", bad));
  }
  for (const int64_t bad : {int64_t{1001}, int64_t{1'000'000'000'000'000'000}}) {
    EXPECT_EQ(WhyAfter([&](Checked& c) {
                c.arrival.report.images = bad;
                c.limits.enrolled = 0;
              }),
              fmt::format("full: {} images, the sum of the round has room for 1000", bad));
  }
}

TEST(CheckUpdate, NumbersThatCannotBe) {
  for (const double bad : {std::nan(""), kInfinite, -kInfinite, 1e300}) {
    EXPECT_EQ(
        WhyAfter([&](Checked& c) { c.arrival.report.loss = bad; }).find("numbers: the loss is"),
        0u);
  }
  for (const int64_t bad : {int64_t{0}, int64_t{-1}, int64_t{9}, int64_t{1} << 62}) {
    EXPECT_EQ(WhyAfter([&](Checked& c) { c.arrival.report.steps = bad; }),
              fmt::format("numbers: {} steps, 1 to 8 are possible", bad));
  }
  for (const int64_t bad : {int64_t{-1}, int64_t{41}, int64_t{1} << 62}) {
    EXPECT_EQ(WhyAfter([&](Checked& c) {
                c.arrival.report.seen = bad;
              }).find(fmt::format("numbers: {} images seen", bad)),
              0u);
  }
  for (const double bad : {kInfinite, -kInfinite, 1e300}) {
    EXPECT_EQ(WhyAfter([&](Checked& c) { c.arrival.report.metrics["rank"] = bad; }),
              fmt::format("numbers: rank is {}", bad));
  }
  for (const std::string& bad : {std::string(), std::string(65, 'a'), std::string("Loss"),
                                 std::string("a b"), std::string("<b>"), std::string("a\n")}) {
    EXPECT_EQ(WhyAfter([&](Checked& c) {
                c.arrival.report.metrics[bad] = 1;
              }).find("numbers: a metric named"),
              0u)
        << bad;
  }
  EXPECT_EQ(WhyAfter([](Checked& c) {
              for (int i = 0; i < 63; ++i) c.arrival.report.metrics[fmt::format("m{}", i)] = i;
            }),
            "numbers: 65 metrics, at most 64");
  const std::set<std::string> known = {"feature_rank", "not_measured"};
  EXPECT_EQ(WhyAfter([&](Checked& c) { c.limits.metrics = &known; }), "");
  EXPECT_EQ(WhyAfter([&](Checked& c) {
              c.limits.metrics = &known;
              c.arrival.report.metrics["mine"] = 1;
            }),
            "numbers: a metric named mine, which the method does not have");
}

TEST(CheckUpdate, DeltasThatAreTooLong) {
  EXPECT_EQ(WhyAfter([](Checked& c) { c.limits.max_norm = 5.001; }), "");
  EXPECT_EQ(WhyAfter([](Checked& c) { c.limits.max_norm = 4.9; }),
            "norm: 5 from the global model, server.max_norm = 4.9");
  const auto with_usual = [](double norm, double steps) {
    return WhyAfter([&](Checked& c) {
      c.limits.norm_ratio = 10;
      c.limits.usual = {norm, steps};
    });
  };
  EXPECT_EQ(with_usual(0.51, 8), "");
  EXPECT_EQ(with_usual(0.49, 8),
            "norm: 5 from the global model, usual is 0.49, server.norm_ratio = 10");
  // 8 steps where 2 are usual go four times as far; where 100 are, no less than usual.
  EXPECT_EQ(with_usual(0.126, 2), "");
  EXPECT_NE(with_usual(0.124, 2), "");
  EXPECT_NE(with_usual(0.1, 0.5), "") << "16 times the steps are not 16 times as far";
  EXPECT_EQ(with_usual(0.51, 100), "");
  EXPECT_NE(with_usual(0.49, 0), "");
  EXPECT_EQ(with_usual(0, 0), "") << "nothing to compare with";
}

// A model turned around holds negative variances, and is two models' lengths away; a delta turned
// around is as long as an honest one, which the robust rules alone outvote (aggregate/rule_test).
TEST(CheckUpdate, ModelsTurnedAroundAreRefusedDeltasAreNotSeen) {
  const auto turned = [](bool variances, bool delta) {
    return WhyAfter([&](Checked& c) {
      c.limits.norm_ratio = 1.2;
      c.limits.usual = {5, 8};
      for (auto& [name, tensor] : c.arrival.model) {
        if (tensor.scalar_type() == torch::kInt64) continue;
        if (name.ends_with("running_var") && !variances) continue;
        const at::Tensor around = delta ? 2 * c.global.at(name) - tensor : -tensor;
        tensor = around.contiguous();
      }
    });
  };
  EXPECT_EQ(turned(true, false).find("values: q/bn.running_var"), 0u);
  EXPECT_EQ(turned(false, false).find("norm: "), 0u) << turned(false, false);
  EXPECT_EQ(turned(false, true), "");
}

TEST(CheckUpdate, FeaturesThatCannotBe) {
  const auto with = [](const at::Tensor& features) {
    return WhyAfter([&](Checked& c) { c.arrival.features = features; });
  };
  const auto rows = HonestArrival().features;
  EXPECT_EQ(with(rows * 2), "features: rows not of length 1");
  EXPECT_EQ(with(rows * NAN), "features: not finite");
  EXPECT_EQ(with(rows.slice(1, 0, 5)), "features: 5 wide, not 6");
  EXPECT_EQ(with(torch::cat({rows, rows})), "features: 12 rows, at most 6");
  EXPECT_EQ(with(rows.to(torch::kDouble)), "features: not a matrix of floats");
  EXPECT_EQ(WhyAfter([](Checked& c) {
              c.limits.features_most = 100;
              c.limits.enrolled = c.arrival.report.images = 5;  // fewer than rows
              c.arrival.report.steps = 2;
              c.arrival.report.seen = 10;
            }),
            "features: 6 rows, at most 5");
  const auto copied = rows.slice(0, 2, 3).contiguous();
  const OrderedRows of_another({{4, copied}}), its_own({{3, copied}});
  EXPECT_EQ(WhyAfter([&](Checked& c) { c.limits.shared = &of_another; }),
            "features: a row is copied from another client's");
  EXPECT_EQ(WhyAfter([&](Checked& c) { c.limits.shared = &its_own; }), "");
}

}  // namespace
}  // namespace kindred

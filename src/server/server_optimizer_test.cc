#include "server/server_optimizer.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "tests/throws.h"

namespace kindred {
namespace {

// A model of one trained tensor of two values, one that is averaged alone, and a counter.
NamedTensors OptimizerModel(double first, double second) {
  return {{"q/w", torch::tensor({first, second}, torch::kFloat)},
          {"q/bn.running_mean", torch::tensor({first}, torch::kFloat)},
          {"q/bn.num_batches_tracked", torch::tensor({7}, torch::kInt64)}};
}

const std::vector<std::string> kTrained = {"q/w"};

// The equations of server_optimizer.h again, for one value over rounds whose mean is always
// `target`: the values of theta after each.
std::vector<double> PlainRounds(const OptimizerOptions& options, double lr, double theta,
                                double target, int rounds) {
  std::vector<double> values;
  double m = 0, v = options.adaptivity * options.adaptivity;
  for (int round = 0; round < rounds; ++round) {
    const double delta = target - theta;
    if (options.optimizer == "momentum") {
      m = options.momentum * m + delta;
      theta += lr * m;
    } else {
      m = options.momentum * m + (1 - options.momentum) * delta;
      const double square = delta * delta;
      if (options.optimizer == "adam") {
        v = options.second_momentum * v + (1 - options.second_momentum) * square;
      } else {
        const double sign = v > square ? 1 : v < square ? -1 : 0;
        v = v - (1 - options.second_momentum) * square * sign;
      }
      theta += lr * m / (std::sqrt(v) + options.adaptivity);
    }
    values.push_back(theta);
  }
  return values;
}

TEST(ServerOptimizer, FollowsTheEquationsOverRounds) {
  for (const auto& [name, lr, usual] :
       std::vector<std::tuple<std::string, double, double>>{{"momentum", 0, 1},
                                                            {"momentum", 0.5, 0.5},
                                                            {"adam", 0, 0.01},
                                                            {"adam", 0.1, 0.1},
                                                            {"yogi", 0, 0.01},
                                                            {"yogi", 0.1, 0.1}}) {
    const OptimizerOptions options = {
        .optimizer = name, .lr = lr, .momentum = 0.6, .second_momentum = 0.9, .adaptivity = 0.01};
    const auto first = PlainRounds(options, usual, 1, 3, 6),
               second = PlainRounds(options, usual, -2, 3, 6);
    NamedTensors theta = OptimizerModel(1, -2), state;
    for (size_t round = 0; round < first.size(); ++round) {
      NamedTensors mean = OptimizerModel(3, 3);
      StepServer(options, theta, kTrained, mean, state);
      EXPECT_NEAR(mean.at("q/w")[0].item<double>(), first[round], 1e-5) << name << " " << round;
      EXPECT_NEAR(mean.at("q/w")[1].item<double>(), second[round], 1e-5) << name << " " << round;
      theta = mean;
    }
  }
}

TEST(ServerOptimizer, NoneIsTheMeanToTheBitAndKeepsNothing) {
  NamedTensors mean = OptimizerModel(0.1, 0.3), state;
  const std::string before = DigestOf(mean);
  StepServer({}, OptimizerModel(1, 2), kTrained, mean, state);
  EXPECT_EQ(DigestOf(mean), before);
  EXPECT_TRUE(state.empty());
}

TEST(ServerOptimizer, WhatSgdDoesNotTrainIsLeftAsAveraged) {
  for (const auto& kind : OptimizerKinds()) {
    NamedTensors mean = OptimizerModel(3, 3), state;
    StepServer({.optimizer = kind.name}, OptimizerModel(1, 1), kTrained, mean, state);
    EXPECT_EQ(mean.at("q/bn.running_mean").item<double>(), 3) << kind.name;
    EXPECT_EQ(mean.at("q/bn.num_batches_tracked").item<int64_t>(), 7) << kind.name;
    for (const auto& [name, tensor] : state) EXPECT_TRUE(name.ends_with("/q/w")) << name;
    EXPECT_EQ(state.size(), kind.moments) << kind.name;
  }
}

TEST(ServerOptimizer, ADivergedModelIsAnErrorThatNamesTheRate) {
  NamedTensors mean = OptimizerModel(1e5, 1), state;
  ExpectError(ExitCode::kUsage, "lower server.lr", [&] {
    StepServer({.optimizer = "momentum", .lr = 1000}, OptimizerModel(1, 1), kTrained, mean, state);
  });
}

TEST(OptimizerKinds, KeysOutOfRangeAreRefused) {
  OptimizerOptions options;
  Config config;
  Bind(config, options);
  for (const std::string key : {"momentum=1", "momentum=-0.1", "lr=-1", "lr=nan",
                                "second_momentum=1", "adaptivity=0", "optimizer=lion"}) {
    const auto equals = key.find('=');
    const std::string shown = "server." + key.substr(0, equals) + " = " + key.substr(equals + 1);
    ExpectError(ExitCode::kUsage, shown, [&] { config.ApplyAssignment("server." + key); });
  }
  EXPECT_NO_THROW(config.ApplyAssignment("server.optimizer=yogi"));
}

}  // namespace
}  // namespace kindred

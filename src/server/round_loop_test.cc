#include "server/round_loop.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <numeric>
#include <stdexcept>

#include "base/error.h"
#include "server/client_sampling.h"
#include "tests/throws.h"

namespace kindred {
namespace {

// Clients 0, ..., count - 1 are there.
struct FakeClients : Transport {
  int count = 1;

  std::vector<int> Available() override {
    std::vector<int> all(static_cast<size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }

  // What the plan and the update weigh.
  static void Count(const Plan& plan, const Arrival& arrival, Traffic& traffic) {
    traffic.down += BytesOf(plan.model) + BytesOf(plan.remote.rows);
    traffic.up += BytesOf(arrival.model) + BytesOf(arrival.features);
  }
};

// Client c has 1 + c images and sends 0.5 model + c + round; what it was handed is kept.
struct FakeTransport : FakeClients {
  struct Call {
    int round;
    double lr;
    std::vector<int> clients;
    std::string model;
  };
  std::vector<Call> calls;
  bool backwards = false;
  int fail_in = -1;  // this round throws after its first update

  Arrival Answer(const Plan& plan, int client) const {
    const auto value = static_cast<float>(client + plan.round);
    return {
        .client = client,
        .model = {{"a", plan.model.at("a") * 0.5f + value},
                  {"n", plan.model.at("n") + (client + 1)}},
        .report = {
            .images = 1 + client, .loss = 10.0 * client, .steps = 2 + client, .seen = 1 + client}};
  }

  std::optional<Traffic> Run(const PlanFor& plan_for, const Chosen& chosen,
                             Intake& intake) override {
    const Plan plan = plan_for(chosen.clients[0]);
    calls.push_back({plan.round, plan.lr, chosen.clients, DigestOf(plan.model)});
    std::vector<int> order = chosen.clients;
    if (backwards) std::reverse(order.begin(), order.end());
    Traffic traffic;
    for (const int client : order) {
      Arrival arrival = Answer(plan_for(client), client);
      Count(plan, arrival, traffic);
      intake.Add(std::move(arrival));
      if (plan.round == fail_in) throw std::runtime_error("the network is down");
    }
    return traffic;
  }
};

NamedTensors LoopModel() {
  return {{"a", torch::tensor({8.0f, -4.0f, 0.1f})}, {"n", torch::zeros({}, torch::kInt64)}};
}

void IgnoreRound(const RoundReport&) {}

// RunRounds for a model alone: no features are shared. One step per image.
void RunLoop(TrainOptions train, int clients, int first, FakeClients& transport,
             NamedTensors& global, const std::function<void(const RoundReport&)>& on_round) {
  transport.count = clients;
  train.batch = 1;
  ServerState state = {.global = global};
  RunRounds({.train = train, .limits = {.norm_ratio = 0}, .first = first}, transport, state,
            [&](const RoundReport& report) {
              global = state.global;
              on_round(report);
            });
}

TEST(RunRounds, TheModelBecomesTheMeanWeightedByImages) {
  FakeTransport transport;
  auto global = LoopModel();
  std::vector<RoundReport> reports;
  RunLoop({.rounds = 1}, 3, 0, transport, global,
          [&](const RoundReport& report) { reports.push_back(report); });
  // Updates of 8: 4 + 0, 4 + 1, 4 + 2 with 1, 2, 3 images: (4 + 10 + 18) / 6 = 16 / 3.
  EXPECT_FLOAT_EQ(global.at("a")[0].item<float>(), 16.0f / 3);
  // Of -4: -2, -1, 0: (-2 - 2 + 0) / 6 = -2 / 3.
  EXPECT_FLOAT_EQ(global.at("a")[1].item<float>(), -2.0f / 3);
  EXPECT_EQ(global.at("n").item<int64_t>(), 3) << "counters: the maximum";
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].clients, 3);
  EXPECT_EQ(reports[0].weight, 6);
  EXPECT_EQ(reports[0].images, 1 + 2 + 3);
  // Three floats and an integer: 20 bytes, three times each way.
  EXPECT_EQ(reports[0].bytes_down, 60u);
  EXPECT_EQ(reports[0].bytes_up, 60u);
  // Losses 0, 10, 20 over 2, 3, 4 steps: (0 + 30 + 80) / 9.
  EXPECT_DOUBLE_EQ(reports[0].loss, 110.0 / 9);
  EXPECT_GE(reports[0].seconds, 0);
}

TEST(RunRounds, AnOptimizerStepsFromModelToModelAndGoesOnFromItsState) {
  const OptimizerOptions momentum = {.optimizer = "momentum", .lr = 0.5, .momentum = 0.9};
  const auto run = [&](int first, int rounds, ServerState state) {
    FakeTransport transport;
    transport.count = 3;
    RunRounds({.train = {.rounds = rounds, .batch = 1},
               .optimizer = momentum,
               .trained = {"a"},
               .limits = {.norm_ratio = 0},
               .first = first},
              transport, state, IgnoreRound);
    return state;
  };
  // The round's mean of 8 is 16 / 3 (above): 8 + (16 / 3 - 8) / 2. The counter is as averaged.
  const ServerState one = run(0, 1, {.global = LoopModel()});
  EXPECT_FLOAT_EQ(one.global.at("a")[0].item<float>(), 8 - 8.0f / 6);
  EXPECT_EQ(one.global.at("n").item<int64_t>(), 3);
  ASSERT_EQ(one.optimizer.size(), 1u);
  EXPECT_FLOAT_EQ(one.optimizer.at("m/a")[0].item<float>(), -8.0f / 3);
  // Stopped after the first of two rounds and gone on with, it is the model of both in one go.
  const ServerState both = run(0, 2, {.global = LoopModel()}), resumed = run(1, 2, one);
  EXPECT_EQ(DigestOf(resumed.global), DigestOf(both.global));
  EXPECT_NE(DigestOf(run(1, 2, {.global = one.global}).global), DigestOf(both.global))
      << "without what it keeps it is another";
}

TEST(RunRounds, TheRateFallsAsACosine) {
  EXPECT_DOUBLE_EQ(CosineRate(0.06, 0, 10), 0.06);
  EXPECT_NEAR(CosineRate(0.06, 5, 10), 0.03, 1e-15);
  // cos(60 degrees) = 0.5: three quarters.
  EXPECT_NEAR(CosineRate(1, 1, 3), 0.75, 1e-15);
  EXPECT_NEAR(CosineRate(1, 10, 10), 0, 1e-15);
  FakeTransport transport;
  auto global = LoopModel();
  std::vector<double> reported;
  RunLoop({.rounds = 4, .lr = 0.5}, 2, 0, transport, global,
          [&](const RoundReport& report) { reported.push_back(report.lr); });
  ASSERT_EQ(transport.calls.size(), 4u);
  for (int round = 0; round < 4; ++round) {
    const auto at = static_cast<size_t>(round);
    EXPECT_EQ(transport.calls[at].lr, CosineRate(0.5, round, 4));
    EXPECT_EQ(reported[at], transport.calls[at].lr);
    if (round > 0) {
      EXPECT_LT(reported[at], reported[at - 1]);
    }
  }
}

TEST(RunRounds, EachRoundGoesToItsSampleOfClients) {
  FakeTransport transport;
  auto global = LoopModel();
  std::vector<int> counts;
  RunLoop({.rounds = 6, .participation = 0.3, .seed = 9}, 10, 0, transport, global,
          [&](const RoundReport& report) { counts.push_back(report.clients); });
  EXPECT_EQ(counts, (std::vector<int>(6, 3)));
  bool differ = false;
  for (int round = 0; round < 6; ++round) {
    const auto& clients = transport.calls[static_cast<size_t>(round)].clients;
    EXPECT_EQ(clients, SampleClients(10, 0.3, round, 9));
    differ |= clients != transport.calls[0].clients;
  }
  EXPECT_TRUE(differ);
}

TEST(RunRounds, OverSelectionAsksMoreThanItWants) {
  struct Fast : FakeTransport {
    std::vector<Chosen> asked;
    std::optional<Traffic> Run(const PlanFor& plan_for, const Chosen& chosen,
                               Intake& intake) override {
      asked.push_back(chosen);
      Chosen first = chosen;  // the others are too slow
      first.clients.resize(static_cast<size_t>(chosen.wanted));
      return FakeTransport::Run(plan_for, first, intake);
    }
  } transport;
  transport.count = 10;
  ServerState state = {.global = LoopModel()};
  std::vector<int> counts;
  RunRounds({.train = {.rounds = 3, .batch = 1, .participation = 0.4, .seed = 9},
             .limits = {.norm_ratio = 0},
             .over_selection = 0.5},
            transport, state, [&](const RoundReport& report) { counts.push_back(report.clients); });
  EXPECT_EQ(counts, std::vector<int>(3, 4));
  for (size_t round = 0; round < 3; ++round) {
    EXPECT_EQ(transport.asked[round].wanted, 4);
    EXPECT_EQ(transport.asked[round].clients, SampleClients(10, 0.6, static_cast<int>(round), 9));
  }
}

TEST(RunRounds, RoundsAreReportedInOrderWithTheModelInPlace) {
  FakeTransport transport;
  auto global = LoopModel();
  std::vector<int> rounds;
  std::vector<std::string> models = {DigestOf(global)};
  RunLoop({.rounds = 5}, 3, 0, transport, global, [&](const RoundReport& report) {
    rounds.push_back(report.round);
    EXPECT_EQ(transport.calls.size(), rounds.size()) << "after its round, before the next";
    models.push_back(DigestOf(global));
  });
  EXPECT_EQ(rounds, (std::vector<int>{0, 1, 2, 3, 4}));
  // A plan carries the model that the round before it left.
  for (size_t round = 0; round < 5; ++round) {
    EXPECT_EQ(transport.calls[round].model, models[round]) << round;
    EXPECT_EQ(transport.calls[round].round, static_cast<int>(round));
  }
}

TEST(RunRounds, OrderOfArrivalChangesNothing) {
  FakeTransport forwards, backwards;
  backwards.backwards = true;
  auto a = LoopModel(), b = LoopModel();
  std::vector<double> losses[2];
  const TrainOptions options{.rounds = 4, .participation = 0.7};
  RunLoop(options, 9, 0, forwards, a,
          [&](const RoundReport& report) { losses[0].push_back(report.loss); });
  RunLoop(options, 9, 0, backwards, b,
          [&](const RoundReport& report) { losses[1].push_back(report.loss); });
  EXPECT_EQ(DigestOf(a), DigestOf(b));
  EXPECT_EQ(losses[0], losses[1]);
}

TEST(RunRounds, GoingOnFromAnyRoundGivesTheSameModel) {
  const TrainOptions options{.rounds = 6, .participation = 0.5, .seed = 4};
  FakeTransport whole;
  auto expected = LoopModel();
  std::vector<NamedTensors> kept = {LoopModel()};
  RunLoop(options, 8, 0, whole, expected,
          [&](const RoundReport&) { kept.push_back(Clone(expected)); });
  for (int first = 0; first <= 6; ++first) {
    FakeTransport rest;
    auto global = Clone(kept[static_cast<size_t>(first)]);
    RunLoop(options, 8, first, rest, global, IgnoreRound);
    EXPECT_EQ(DigestOf(global), DigestOf(expected)) << first;
    ASSERT_EQ(rest.calls.size(), static_cast<size_t>(6 - first));
    for (size_t i = 0; i < rest.calls.size(); ++i) {
      const auto& before = whole.calls[static_cast<size_t>(first) + i];
      EXPECT_EQ(rest.calls[i].round, before.round);
      EXPECT_EQ(rest.calls[i].lr, before.lr);
      EXPECT_EQ(rest.calls[i].clients, before.clients);
    }
  }
}

TEST(RunRounds, AFailingTransportLeavesTheModelOfTheLastWholeRound) {
  FakeTransport transport;
  transport.fail_in = 2;
  auto global = LoopModel();
  std::string last;
  int rounds = 0;
  EXPECT_THROW(RunLoop({.rounds = 5}, 4, 0, transport, global,
                       [&](const RoundReport&) {
                         ++rounds;
                         last = DigestOf(global);
                       }),
               std::runtime_error);
  EXPECT_EQ(rounds, 2);
  EXPECT_EQ(DigestOf(global), last);
}

TEST(RunRounds, AnUpdateThatDivergedStopsTheRunWithTheModelBefore) {
  struct Diverging : FakeClients {
    std::optional<Traffic> Run(const PlanFor& plan_for, const Chosen& chosen,
                               Intake& intake) override {
      for (const int client : chosen.clients) {
        auto model = Clone(plan_for(client).model);
        if (client == 1) model.at("a")[2] = NAN;
        const auto why = intake.Add(
            {.client = client, .model = std::move(model), .report = {.images = 1, .steps = 1}});
        if (why) throw UsageError("client {}: {}", client, TextOf(*why));  // as in one process
      }
      return Traffic{};
    }
  } transport;
  auto global = LoopModel();
  ExpectError(ExitCode::kUsage, "diverged",
              [&] { RunLoop({.rounds = 2}, 3, 0, transport, global, IgnoreRound); });
  EXPECT_EQ(DigestOf(global), DigestOf(LoopModel()));
}

// Client c shares one row, another one each round, client 0 one of length `length`; how many a
// client was sent and why it was refused is kept.
struct SharingTransport : FakeClients {
  std::vector<int64_t> received;
  std::vector<std::string> refused;
  float length = 1;
  std::optional<Traffic> Run(const PlanFor& plan_for, const Chosen& chosen,
                             Intake& intake) override {
    Traffic traffic;
    for (const int client : chosen.clients) {
      const Plan plan = plan_for(client);
      received.push_back(plan.remote.Size());
      const auto angle = static_cast<float>(0.3 * client + 1.1 * plan.round);
      const float size = client == 0 ? length : 1;
      Arrival arrival = {
          .client = client,
          .model = Clone(plan.model),
          .features = torch::tensor({{std::cos(angle), std::sin(angle)}}) * size,
          .report = {.images = 1 + client,
                     .steps = 1 + client,
                     .metrics = {{"all", 1.0 * client}, {"of_" + std::to_string(client), 7}}}};
      Count(plan, arrival, traffic);
      if (auto why = intake.Add(std::move(arrival))) refused.push_back(TextOf(*why));
    }
    return traffic;
  }
};

TEST(RunRounds, FeaturesOfARoundGoToTheOthersInTheNext) {
  SharingTransport transport;
  transport.count = 3;
  ServerState state = {.global = LoopModel()};
  std::vector<RoundReport> reports;
  RunRounds({.train = {.rounds = 3, .batch = 1}, .features_width = 2, .features_most = 4},
            transport, state, [&](const RoundReport& report) { reports.push_back(report); });
  EXPECT_EQ(transport.received, (std::vector<int64_t>{0, 0, 0, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(state.pool.Rows(), 3);
  // 20 bytes of model each way, 8 a row: up one, down none and then two.
  EXPECT_EQ(reports[0].bytes_down, 3u * 20);
  EXPECT_EQ(reports[1].bytes_down, 3u * (20 + 2 * 8));
  EXPECT_EQ(reports[1].bytes_up, 3u * (20 + 8));
  // Metrics 0, 1, 2 over 1, 2, 3 steps: 8 / 6; a number of one client alone keeps its value.
  EXPECT_DOUBLE_EQ(reports[0].metrics.at("all"), 8.0 / 6);
  EXPECT_DOUBLE_EQ(reports[0].metrics.at("of_2"), 7);
}

TEST(RunRounds, AnUpdateWithFeaturesThatCannotBeIsRefusedWhole) {
  SharingTransport transport;
  transport.count = 2;
  transport.length = 3;
  ServerState state = {.global = LoopModel()};
  std::vector<int> clients;
  RunRounds({.train = {.rounds = 2, .batch = 1}, .features_width = 2, .features_most = 4},
            transport, state,
            [&](const RoundReport& report) { clients.push_back(report.clients); });
  EXPECT_EQ(clients, (std::vector<int>{1, 1}));
  EXPECT_EQ(transport.refused, (std::vector<std::string>(2, "features: rows not of length 1")));
  EXPECT_EQ(state.pool.Rows(), 1);
  EXPECT_EQ(transport.received, (std::vector<int64_t>{0, 0, 1, 0}));
}

// FakeTransport whose client 1 sends what `spoil` makes of its update, or nothing.
struct HostileTransport : FakeTransport {
  std::function<void(Arrival&)> spoil;
  bool silent = false;
  std::vector<std::string> refused;

  std::optional<Traffic> Run(const PlanFor& plan_for, const Chosen& chosen,
                             Intake& intake) override {
    for (const int client : chosen.clients) {
      if (client == 1 && silent) continue;
      Arrival arrival = Answer(plan_for(client), client);
      if (client == 1 && spoil) spoil(arrival);
      if (auto why = intake.Add(std::move(arrival))) refused.push_back(TextOf(*why));
    }
    return Traffic{};
  }
};

RoundLoopOptions HostileLoop() {
  return {.train = {.rounds = 3, .batch = 1},
          .images_of = [](int client) { return int64_t{1} + client; }};
}

// The model after all rounds; and the reports' losses, as text.
std::string AfterRounds(const RoundLoopOptions& options, HostileTransport& transport) {
  transport.count = 4;
  ServerState state = {.global = LoopModel()};
  std::string losses;
  RunRounds(options, transport, state, [&](const RoundReport& report) {
    losses +=
        fmt::format(" {} {} {} {}", report.loss, report.clients, report.images, report.weight);
  });
  return DigestOf(state.global) + losses;
}

TEST(RunRounds, ARefusedUpdateLeavesTheMeanOfTheOthersBitForBit) {
  for (const auto& rule : {"mean", "median"}) {
    RoundLoopOptions options = HostileLoop();
    options.rule.rule = rule;
    HostileTransport without;
    without.silent = true;
    const std::string expected = AfterRounds(options, without);
    HostileTransport honest;
    EXPECT_NE(AfterRounds(options, honest), expected);
    EXPECT_TRUE(honest.refused.empty()) << honest.refused[0];
    const std::pair<const char*, std::function<void(Arrival&)>> attacks[] = {
        {"values: ", [](Arrival& a) { a.model.at("a")[2] = NAN; }},
        {"values: ", [](Arrival& a) { a.model.at("a")[0] = INFINITY; }},
        {"values: ", [](Arrival& a) { a.model.at("n").fill_(-1); }},
        {"norm: ", [](Arrival& a) { a.model.at("a") *= 1000; }},
        {"manifest: ", [](Arrival& a) { a.model["extra"] = torch::ones({1}); }},
        {"manifest: ", [](Arrival& a) { a.model.at("a") = torch::ones({4}); }},
        {"images: ", [](Arrival& a) { a.report.images = 1'000'000; }},
        {"images: ", [](Arrival& a) { a.report.images = 0; }},
        {"numbers: ", [](Arrival& a) { a.report.loss = NAN; }},
        {"numbers: ", [](Arrival& a) { a.report.seen = int64_t{1} << 62; }},
        {"numbers: ", [](Arrival& a) { a.client = 9; }},
        {"numbers: ", [](Arrival& a) { a.client = 0; }},
        {"features: ", [](Arrival& a) {
           a.features = torch::ones({1, 128});
         }}};
    for (const auto& [why, spoil] : attacks) {
      HostileTransport hostile;
      hostile.spoil = spoil;
      EXPECT_EQ(AfterRounds(options, hostile), expected) << why;
      ASSERT_EQ(hostile.refused.size(), 3u) << why;
      for (const auto& reason : hostile.refused) EXPECT_EQ(reason.find(why), 0u) << reason;
    }
  }
}

// With two clients the hostile one holds half of every round. It cannot have the other's updates
// refused by sending what hardly moves, or does not move at all.
TEST(RunRounds, AClientThatHardlyMovesDoesNotShutTheOthersOut) {
  for (const double move : {0.0, 1e-6, 1e-3}) {
    struct Still : FakeClients {
      double move = 0;
      std::vector<std::string> refused;
      std::optional<Traffic> Run(const PlanFor& plan_for, const Chosen& chosen,
                                 Intake& intake) override {
        for (const int client : chosen.clients) {
          const Plan plan = plan_for(client);
          auto model = Clone(plan.model);
          // An honest client goes as far as one that trains from random weights does.
          const double honest = plan.round == 0 ? 3 : 0.15 * std::sqrt(plan.lr / 0.06);
          model.at("a")[0] += client == 1 ? move : honest;
          if (auto why = intake.Add({.client = client,
                                     .model = std::move(model),
                                     .report = {.images = 1, .steps = 1}})) {
            refused.push_back(TextOf(*why));
          }
        }
        return Traffic{};
      }
    } transport;
    transport.move = move;
    transport.count = 2;
    ServerState state = {.global = LoopModel()};
    RunRounds({.train = {.rounds = 20, .lr = 0.06}}, transport, state, IgnoreRound);
    EXPECT_TRUE(transport.refused.empty()) << move << " " << transport.refused[0];
  }
}

TEST(RunRounds, WhatIsUsualIsTheLowerMedianOfTheRoundsBefore) {
  // Deltas of 1, 2, 3, 40 in one round; then client 3 may go 10 x 2 far.
  struct Moving : FakeClients {
    std::vector<double> by;
    std::vector<std::string> refused;
    std::optional<Traffic> Run(const PlanFor& plan_for, const Chosen& chosen,
                               Intake& intake) override {
      for (const int client : chosen.clients) {
        auto model = Clone(plan_for(client).model);
        model.at("a")[0] += by[static_cast<size_t>(client)];
        if (auto why = intake.Add({.client = client,
                                   .model = std::move(model),
                                   .report = {.images = 1, .steps = 1}})) {
          refused.push_back(TextOf(*why));
        }
      }
      return Traffic{};
    }
  } transport;
  transport.count = 4;
  transport.by = {3, 40, 1, 2};
  ServerState state = {.global = LoopModel()};  // of norm 8.9: the first round allows 89
  RunRounds({.train = {.rounds = 1}}, transport, state, IgnoreRound);
  EXPECT_TRUE(transport.refused.empty());
  ASSERT_EQ(state.recent.size(), 1u);
  EXPECT_NEAR(state.recent[0].norm, 2, 1e-5);
  EXPECT_EQ(state.recent[0].steps, 1);
  transport.by = {3, 20.5, 1, 19.5};
  RunRounds({.train = {.rounds = 2}, .first = 1}, transport, state, IgnoreRound);
  ASSERT_EQ(transport.refused.size(), 1u);
  EXPECT_EQ(transport.refused[0].find("norm: 20.5 from the global model, usual is 2,"), 0u);
  // No bound, no refusal; an absolute one counts from the first round on.
  transport.refused.clear();
  transport.by = {3, 2000, 1, 2};
  RunRounds({.train = {.rounds = 3}, .limits = {.norm_ratio = 0}, .first = 2}, transport, state,
            IgnoreRound);
  EXPECT_TRUE(transport.refused.empty());
  state = {.global = LoopModel()};
  RunRounds({.train = {.rounds = 1}, .limits = {.max_norm = 2.5}}, transport, state, IgnoreRound);
  EXPECT_EQ(transport.refused.size(), 2u);
  state = {.global = LoopModel()};
  transport.refused.clear();
  RunRounds({.train = {.rounds = 1}}, transport, state, IgnoreRound);
  EXPECT_EQ(transport.refused.size(), 1u) << "2000 in the first round";
}

TEST(RunRounds, AShareIsCappedByTheEnrolledImages) {
  const auto value_with = [](double share) {
    HostileTransport transport;
    transport.count = 3;
    ServerState state = {.global = LoopModel()};
    RunRounds({.train = {.rounds = 1, .batch = 1},
               .limits = {.max_share = share},
               .images_of = [](int client) { return int64_t{1} + client; }},
              transport, state, IgnoreRound);
    return state.global.at("a")[0].item<float>();
  };
  EXPECT_FLOAT_EQ(value_with(1), 16.0f / 3);
  // Weights 1, 2, 2: (4 + 10 + 12) / 5; then all equal: (4 + 5 + 6) / 3.
  EXPECT_FLOAT_EQ(value_with(0.4), 26.0f / 5);
  EXPECT_FLOAT_EQ(value_with(0.3), 5.0f);
}

// Over a network some of those asked do not report: the shares are of those who did.
TEST(RunRounds, SharesOfClaimsAreOfThoseWhoArrived) {
  const auto after = [](double share, const std::set<int>& claims, std::map<int, int64_t>* cut) {
    HostileTransport transport;
    transport.count = 4;
    transport.silent = true;  // client 1
    ServerState state = {.global = LoopModel()};
    RunRounds({.train = {.rounds = 1, .batch = 1},
               .limits = {.max_claimed_share = share},
               .images_of = [](int client) { return int64_t{1} + client; },
               .claims_of = [&](const std::vector<int>&) { return claims; }},
              transport, state, [&](const RoundReport& report) { *cut = report.cut; });
    return state.global.at("a")[0].item<float>();
  };
  std::map<int, int64_t> cut;
  // 1, 3 and 4 images: nobody has more than half.
  EXPECT_FLOAT_EQ(after(0.5, {0, 1, 2, 3}, &cut), (4 + 3 * 6 + 4 * 7) / 8.0f);
  EXPECT_TRUE(cut.empty());
  // Weights 1, 2, 2. With client 1's two images nobody would have been above .4.
  EXPECT_FLOAT_EQ(after(0.4, {0, 1, 2, 3}, &cut), (4 + 2 * 6 + 2 * 7) / 5.0f);
  EXPECT_EQ(cut, (std::map<int, int64_t>{{2, 2}, {3, 2}}));
  // The number of client 3 is certified: t = .4 x (4 + 1 + 3), above 3.
  EXPECT_FLOAT_EQ(after(0.4, {0, 1, 2}, &cut), (4 + 3 * 6 + 4 * 7) / 8.0f);
}

TEST(RunRounds, ANumberThatWasNotMeasuredIsNoPartOfTheMean) {
  HostileTransport transport;
  transport.spoil = [](Arrival& arrival) {
    arrival.report.metrics = {{"rank", 4.5}, {"none", NAN}};
  };
  transport.count = 4;
  ServerState state = {.global = LoopModel()};
  RunRounds(HostileLoop(), transport, state, [](const RoundReport& report) {
    EXPECT_EQ(report.metrics, (Metrics{{"rank", 4.5}}));
  });
}

TEST(RunRounds, NoRoundsLeftDoNothing) {
  FakeTransport transport;
  auto global = LoopModel();
  RunLoop({.rounds = 3}, 2, 3, transport, global,
          [](const RoundReport&) { ADD_FAILURE() << "no round was asked for"; });
  EXPECT_TRUE(transport.calls.empty());
  EXPECT_EQ(DigestOf(global), DigestOf(LoopModel()));
}

}  // namespace
}  // namespace kindred

#include "server/round_loop.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <numbers>

#include "aggregate/weighted_mean.h"
#include "base/log.h"
#include "server/client_sampling.h"

namespace kindred {

double CosineRate(double lr, int round, int rounds) {
  return 0.5 * lr * (1 + std::cos(std::numbers::pi * round / rounds));
}

namespace {

// Means over the clients, weighted by their steps and summed in one order whatever came first.
void AddMeans(const std::map<int, Arrival>& arrivals, RoundReport& report) {
  double steps = 0;
  std::map<std::string, double> weights;  // a number may be missing from some clients
  for (const auto& [client, arrival] : arrivals) {
    const auto weight = static_cast<double>(arrival.steps);
    report.loss += weight * arrival.loss;
    steps += weight;
    for (const auto& [name, value] : arrival.metrics) {
      report.metrics[name] += weight * value;
      weights[name] += weight;
    }
  }
  report.loss /= steps;
  for (auto& [name, value] : report.metrics) value /= weights[name];
}

}  // namespace

void RunRounds(const RoundLoopOptions& options, Transport& transport, ServerState& state,
               const std::function<void(const RoundReport&)>& on_round) {
  const TrainOptions& train = options.train;
  for (int round = options.first; round < train.rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const auto chosen = SampleClients(options.clients, train.participation, round, train.seed);
    RoundReport report{.round = round,
                       .lr = CosineRate(train.lr, round, train.rounds),
                       .clients = static_cast<int>(chosen.size())};
    state.pool.DropOld(round, options.features.max_age);
    std::atomic<uint64_t> bytes_down = 0;
    const auto plan_for = [&](int client) {
      Plan plan = {
          .round = round,
          .rounds = train.rounds,
          .lr = report.lr,
          .model = state.global,
          .remote = state.pool.RemoteFor(client, round, options.features.max_remote, train.seed)};
      bytes_down += BytesOf(plan.model) + BytesOf(plan.remote.rows);
      return plan;
    };
    WeightedMean mean;
    std::map<int, Arrival> arrivals;  // without their models
    transport.Run(plan_for, chosen, [&](Arrival&& arrival) {
      mean.Add(arrival.model, arrival.images);
      report.bytes_up += BytesOf(arrival.model) + BytesOf(arrival.features);
      report.images += arrival.seen;
      arrival.model.clear();
      arrivals.emplace(arrival.client, std::move(arrival));
    });
    AddMeans(arrivals, report);
    report.bytes_down = bytes_down;
    report.weight = mean.Weight();
    state.global = mean.Take();
    for (auto& [client, arrival] : arrivals) {
      if (!arrival.features.defined()) continue;
      if (const auto why =
              WhyNotFeatures(arrival.features, options.features_width, options.features_most)) {
        spdlog::warn("round {}: the features of client {} are left out: {}", round + 1, client,
                     *why);
        continue;
      }
      state.pool.Replace(client, arrival.features, round);
    }
    report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    on_round(report);
  }
}

}  // namespace kindred

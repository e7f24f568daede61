#include "server/round_loop.h"

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

// Whom the round asks of those there are: beta of them, and `over` of those more for the case that
// some are slow.
Chosen Choose(const std::vector<int>& available, const TrainOptions& train, double over,
              int round) {
  const int count = static_cast<int>(available.size());
  Chosen chosen = {.wanted = ClientsInRound(count, train.participation)};
  const double share = std::min(1.0, train.participation * (1 + over));
  for (const int place : SampleClients(count, share, round, train.seed)) {
    chosen.clients.push_back(available[static_cast<size_t>(place)]);
  }
  return chosen;
}

}  // namespace

void RunRounds(const RoundLoopOptions& options, Transport& transport, ServerState& state,
               const std::function<void(const RoundReport&)>& on_round) {
  const TrainOptions& train = options.train;
  for (int round = options.first; round < train.rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const Chosen chosen = Choose(transport.Available(), train, options.over_selection, round);
    RoundReport report{.round = round, .lr = CosineRate(train.lr, round, train.rounds)};
    state.pool.DropOld(round, options.features.max_age);
    const auto plan_for = [&](int client) -> Plan {
      return {
          .round = round,
          .rounds = train.rounds,
          .lr = report.lr,
          .model = state.global,
          .remote = state.pool.RemoteFor(client, round, options.features.max_remote, train.seed)};
    };
    WeightedMean mean;
    std::map<int, Arrival> arrivals;  // without their models
    const auto add = [&](Arrival&& arrival) -> std::optional<std::string> {
      mean.Add(arrival.model, arrival.images);
      report.images += arrival.seen;
      arrival.model.clear();
      arrivals.emplace(arrival.client, std::move(arrival));
      return std::nullopt;
    };
    const Traffic traffic = transport.Run(plan_for, chosen, add);
    AddMeans(arrivals, report);
    report.clients = static_cast<int>(arrivals.size());
    report.bytes_down = traffic.down;
    report.bytes_up = traffic.up;
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

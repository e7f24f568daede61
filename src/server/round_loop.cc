#include "server/round_loop.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <optional>

#include "base/cpu_seconds.h"
#include "base/error.h"
#include "server/client_sampling.h"
#include "server/round_intake.h"
#include "server/server_optimizer.h"

namespace kindred {

double CosineRate(double lr, int round, int rounds) {
  return 0.5 * lr * (1 + std::cos(std::numbers::pi * round / rounds));
}

namespace {

// Sums over the clients, and means weighted by their steps, in one order whatever came first.
void AddUp(const std::map<int, Arrival>& arrivals, RoundReport& report) {
  double steps = 0;
  std::map<std::string, double> weights;  // a number may be missing from some clients
  for (const auto& [client, arrival] : arrivals) {
    const auto weight = static_cast<double>(arrival.report.steps);
    report.loss += weight * arrival.report.loss;
    steps += weight;
    ++report.clients;
    report.who.push_back(client);
    report.images += arrival.report.seen;
    report.weight += arrival.report.images;
    for (const auto& [name, value] : arrival.report.metrics) {
      if (std::isnan(value)) continue;  // not measured
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
  Chosen chosen = {
      .round = round, .clients = {}, .wanted = ClientsInRound(count, train.participation)};
  const double share = std::min(1.0, train.participation * (1 + over));
  for (const int place : SampleClients(count, share, round, train.seed)) {
    chosen.clients.push_back(available[static_cast<size_t>(place)]);
  }
  return chosen;
}

}  // namespace

Plan PlanFrom(const RoundLoopOptions& options, const ServerState& state, int round, int client) {
  const TrainOptions& train = options.train;
  return {.round = round,
          .rounds = train.rounds,
          .lr = CosineRate(train.lr, round, train.rounds),
          .model = state.global,
          .remote = state.pool.RemoteFor(client, round, options.features.max_remote, train.seed)};
}

void RunRounds(const RoundLoopOptions& options, Transport& transport, ServerState& state,
               const std::function<void(const RoundReport&)>& on_round) {
  const TrainOptions& train = options.train;
  Check(options.images_of || options.limits.max_share >= 1, "shares of what is not known");
  for (int round = options.first; round < train.rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const double cpu_start = CpuSeconds();
    RoundReport report{.round = round, .lr = CosineRate(train.lr, round, train.rounds)};
    state.pool.DropOld(round, options.features.max_age);
    const auto plan_for = [&](int client) { return PlanFrom(options, state, round, client); };
    std::optional<RoundIntake> intake;
    std::optional<Traffic> traffic;
    while (!traffic) {
      const Chosen chosen = Choose(transport.Available(), train, options.over_selection, round);
      intake.emplace(options, chosen, state);
      traffic = transport.Run(plan_for, chosen, *intake);
    }
    Check(!intake->Arrivals().empty(), "a round without an update that counts");
    AddUp(intake->Arrivals(), report);
    report.bytes_down = traffic->down;
    report.bytes_up = traffic->up;
    report.cpu_seconds = CpuSeconds() - cpu_start + traffic->cpu_seconds;
    NamedTensors model = intake->Model();
    report.cut = intake->Cut();
    StepServer(options.optimizer, state.global, options.trained, model, state.optimizer);
    AddRound(state.recent, intake->Usual());
    for (const auto& [client, arrival] : intake->Arrivals()) {
      if (arrival.features.defined()) state.pool.Replace(client, arrival.features, round);
    }
    state.global = std::move(model);
    report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    on_round(report);
  }
}

}  // namespace kindred

#include "server/round_loop.h"

#include <chrono>
#include <cmath>
#include <numbers>

#include "aggregate/weighted_mean.h"
#include "server/client_sampling.h"

namespace kindred {

double CosineRate(double lr, int round, int rounds) {
  return 0.5 * lr * (1 + std::cos(std::numbers::pi * round / rounds));
}

void RunRounds(const TrainOptions& options, int clients, int first, Transport& transport,
               NamedTensors& global, const std::function<void(const RoundReport&)>& on_round) {
  for (int round = first; round < options.rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const auto chosen = SampleClients(clients, options.participation, round, options.seed);
    const Plan plan = {
        .round = round, .lr = CosineRate(options.lr, round, options.rounds), .model = global};
    RoundReport report{.round = round, .lr = plan.lr, .clients = static_cast<int>(chosen.size())};
    report.bytes_down = BytesOf(global) * chosen.size();
    WeightedMean mean;
    int64_t steps = 0;
    std::map<int, std::pair<double, int64_t>> losses;  // by client: summed in one order
    transport.Run(plan, chosen, [&](Update&& update) {
      mean.Add(update.model, update.images);
      report.bytes_up += BytesOf(update.model);
      report.images += update.seen;
      losses[update.client] = {update.loss, update.steps};
    });
    for (const auto& [client, loss] : losses) {
      report.loss += loss.first * static_cast<double>(loss.second);
      steps += loss.second;
    }
    report.loss /= static_cast<double>(steps);
    report.weight = mean.Weight();
    global = mean.Take();
    report.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    on_round(report);
  }
}

}  // namespace kindred

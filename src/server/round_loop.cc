#include "server/round_loop.h"

#include <chrono>
#include <cmath>
#include <numbers>

#include "aggregate/weighted_mean.h"
#include "server/client_sampling.h"

namespace kindred {

void Bind(Config& config, TrainOptions& options) {
  config.Bind("train.rounds", &options.rounds, "communication rounds", {.least = 1, .most = 1e6});
  config.Bind("train.epochs", &options.epochs, "local epochs a round", {.least = 1, .most = 1e4});
  config.Bind("train.batch", &options.batch, "images a step", {.least = 1, .most = 65536});
  config.Bind("train.lr", &options.lr, "learning rate of the first round, cosine to 0",
              {.least = 0, .most = 1e3});
  config.Bind("train.momentum", &options.momentum, "SGD's", {.least = 0, .most = 0.9999});
  config.Bind("train.weight_decay", &options.weight_decay, "SGD's", {.least = 0, .most = 1});
  config.Bind("train.participation", &options.participation, "share of clients in a round",
              {.least = 1e-6, .most = 1});
  config.Bind("train.seed", &options.seed, "all randomness but the partition's");
  config.Bind("train.workers", &options.workers, "clients trained at a time; 0: one a core",
              {.least = 0, .most = 1024});
  config.Bind("train.memory", &options.memory, "MB of clients' states kept in memory, rest on disk",
              {.least = 0});
}

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

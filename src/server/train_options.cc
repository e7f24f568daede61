#include "server/train_options.h"

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
              {.least = 0, .most = 1024, .changes_result = false});
  config.Bind("train.memory", &options.memory, "MB of clients' states kept in memory, rest on disk",
              {.least = 0, .changes_result = false});
}

}  // namespace kindred

#include "server/train_options.h"

namespace kindred {

void Bind(Config& config, TrainOptions& options) {
  config.BindForClients("train.rounds", &options.rounds, "communication rounds",
                        {.least = 1, .most = 1e6, .client_limit = "client.max_rounds"});
  config.BindForClients("train.epochs", &options.epochs, "local epochs per round",
                        {.least = 1, .most = 1e4, .client_limit = "client.max_epochs"});
  config.BindForClients("train.batch", &options.batch, "images per step",
                        {.least = 1,
                         .most = 65536,
                         .client_limit = "client.max_batch",
                         .client_least = "client.min_batch"});
  config.BindForClients("train.lr", &options.lr, "learning rate of the first round, cosine to 0",
                        {.least = 0, .most = 1e3});
  config.BindForClients("train.momentum", &options.momentum, "momentum of the clients' SGD",
                        {.least = 0, .most = 0.9999});
  config.BindForClients("train.weight_decay", &options.weight_decay,
                        "weight decay of the clients' SGD", {.least = 0, .most = 1});
  config.BindForClients("train.participation", &options.participation,
                        "share of the clients that a round asks", {.least = 1e-6, .most = 1});
  config.BindForClients("train.seed", &options.seed, "seed of everything but the partition");
  config.Bind("train.workers", &options.workers,
              "clients trained at the same time; 0: one per core",
              {.least = 0, .most = 1024, .changes_result = false});
  config.Bind("train.memory", &options.memory,
              "MB of clients' states kept in memory; the others are on disk",
              {.least = 0, .changes_result = false});
}

}  // namespace kindred

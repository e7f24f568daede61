#include "eval/eval_options.h"

namespace kindred {

void Bind(Config& config, EvalOptions& options) {
  const auto bind = [&](const char* name, Config::Field field, const char* meaning,
                        Allowed allowed = {}) {
    allowed.changes_result = false;  // of training
    config.Bind(name, field, meaning, allowed);
  };
  bind("eval.every", &options.every, "rounds between two kNN checks", {.least = 1, .most = 1e6});
  bind("eval.k", &options.k, "kNN: number of neighbours that vote", {.least = 1, .most = 1e6});
  bind("eval.t", &options.t, "kNN: temperature of the votes", {.least = 1e-3, .most = 100});
  bind("eval.limit", &options.limit,
       "use at most so many test images, balanced over classes; 0: all", {.least = 0});
  bind("eval.protocol", &options.protocol,
       "linear: on features computed once (fast), or as MoCo's authors do it (moco)",
       {.choices = {"fast", "moco"}});
  bind("eval.labels", &options.labels, "semi, finetune: share of the labels",
       {.least = 1e-6, .most = 1});
  bind("eval.epochs", &options.epochs,
       "linear (moco), semi: epochs; 0: the protocol's own, 100 and 20", {.least = 0, .most = 1e5});
  bind("eval.crop", &options.crop,
       "linear (moco), semi, finetune: smallest share of an image's area that a crop keeps",
       {.least = 0.01, .most = 1});
  bind("eval.rounds", &options.rounds, "finetune: rounds", {.least = 1, .most = 1e6});
  bind("eval.local_epochs", &options.local_epochs, "finetune: local epochs per round",
       {.least = 1, .most = 1e4});
  bind("eval.lr", &options.lr, "finetune: learning rate of the first round, cosine to 0",
       {.least = 0, .most = 1e3});
  bind("eval.scratch", &options.scratch,
       "finetune: start from random weights, as the table's FedAvg row");
  bind("eval.seed", &options.seed, "seed of heads, of the choice of labels and of held-out images");
  bind("eval.seeds", &options.seeds, "number of seeds that mean and deviation are taken over",
       {.least = 1, .most = 1000});
}

}  // namespace kindred

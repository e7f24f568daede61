#include "eval/eval_options.h"

namespace kindred {

void Bind(Config& config, EvalOptions& options) {
  const auto bind = [&](const char* name, Config::Field field, const char* meaning,
                        Allowed allowed = {}) {
    allowed.changes_result = false;  // of training
    config.Bind(name, field, meaning, allowed);
  };
  bind("eval.every", &options.every, "rounds between two looks by kNN", {.least = 1, .most = 1e6});
  bind("eval.k", &options.k, "kNN: neighbours that vote", {.least = 1, .most = 1e6});
  bind("eval.t", &options.t, "kNN: temperature of the votes", {.least = 1e-3, .most = 100});
  bind("eval.limit", &options.limit, "most test images, balanced over classes; 0: all",
       {.least = 0});
  bind("eval.protocol", &options.protocol,
       "linear: on features computed once, or as MoCo's authors do it",
       {.choices = {"fast", "moco"}});
  bind("eval.labels", &options.labels, "semi, finetune: share of the labels",
       {.least = 1e-6, .most = 1});
  bind("eval.epochs", &options.epochs, "linear (moco), semi; 0: the protocol's own, 100 and 20",
       {.least = 0, .most = 1e5});
  bind("eval.crop", &options.crop, "linear (moco), semi, finetune: least area of a random crop",
       {.least = 0.01, .most = 1});
  bind("eval.rounds", &options.rounds, "finetune: rounds", {.least = 1, .most = 1e6});
  bind("eval.local_epochs", &options.local_epochs, "finetune: local epochs a round",
       {.least = 1, .most = 1e4});
  bind("eval.lr", &options.lr, "finetune: learning rate of the first round, cosine to 0",
       {.least = 0, .most = 1e3});
  bind("eval.scratch", &options.scratch, "finetune: from random weights, the FedAvg row");
  bind("eval.seed", &options.seed, "of heads, label choices and held-out images");
  bind("eval.seeds", &options.seeds, "how many seeds: mean and deviation",
       {.least = 1, .most = 1000});
}

}  // namespace kindred

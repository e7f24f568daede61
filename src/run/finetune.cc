#include "run/finetune.h"

#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"
#include "eval/labeled_subset.h"
#include "run/setup.h"
#include "server/round_loop.h"
#include "transport/in_process.h"

namespace kindred {
namespace {

Partition LabeledPart(const Dataset& dataset, const Experiment& experiment, uint64_t seed) {
  Partition part = MakePartition(dataset, experiment.partition);
  std::vector<bool> seen(static_cast<size_t>(dataset.Classes()), false);
  std::vector<bool> there = seen;
  for (const int label : dataset.train.labels) there[static_cast<size_t>(label)] = true;
  for (int client = 0; client < part.Clients(); ++client) {
    auto& own = part.clients[static_cast<size_t>(client)];
    Rng rng({.seed = seed, .purpose = Purpose::kLabeled, .client = static_cast<uint32_t>(client)});
    const auto labels = LabelsOf(dataset.train.labels, own);
    std::vector<int> kept;
    for (const int place :
         StratifiedSample(labels, dataset.Classes(), experiment.eval.labels, rng)) {
      kept.push_back(own[static_cast<size_t>(place)]);
      seen[static_cast<size_t>(labels[static_cast<size_t>(place)])] = true;
    }
    if (kept.empty()) {
      throw UsageError(
          "a share of {} leaves client {} without a label: it has {} images; raise "
          "eval.labels",
          experiment.eval.labels, client, own.size());
    }
    own = std::move(kept);
  }
  for (size_t c = 0; c < seen.size(); ++c) {
    if (there[c] && !seen[c]) {
      throw UsageError("a share of {} leaves class {} without a label; raise eval.labels",
                       experiment.eval.labels, c);
    }
  }
  return part;
}

}  // namespace

Finetuned FinetuneTogether(const Encoder& encoder, const Dataset& dataset,
                           const Experiment& experiment, uint64_t seed,
                           const std::function<void(int images)>& on_images) {
  const EvalOptions& eval = experiment.eval;
  Finetuned result;
  result.labeled = LabeledPart(dataset, experiment, seed);
  Experiment labeled = experiment;
  labeled.model = encoder.model;
  labeled.method.name = "supervised";
  TrainOptions& train = labeled.train;
  train.rounds = eval.rounds;
  train.epochs = eval.local_epochs;
  train.lr = eval.lr;
  train.seed = seed;
  MethodContext context = ContextOf(labeled, ImageKindOf(encoder.input, dataset.Classes()));
  context.model.bn_splits = 1;
  const int workers = std::min(WorkerCount(train.workers), result.labeled.Clients());
  ServerState state;
  const auto method = MakeMethod(context);
  state.global = Clone(method->Shared());
  if (!eval.scratch) {
    for (const auto& [name, tensor] : encoder.tensors) {
      state.global[method->EncoderPrefix() + "/" + name] = tensor;
    }
  }
  LocalStore store(uint64_t{1} << 30, CacheFolder());  // of nothing: such clients keep no state
  RoundHooks hooks;
  hooks.on_step = on_images;
  InProcess transport({.data = dataset.train,
                       .partition = result.labeled,
                       .method = context,
                       .options = {.epochs = train.epochs,
                                   .batch = train.batch,
                                   .momentum = train.momentum,
                                   .weight_decay = train.weight_decay,
                                   .views = {CropAndFlip(eval.crop), encoder.input.normalization},
                                   .seed = seed},
                       .store = store},
                      workers, hooks, WorkerCount(train.workers));
  const RoundLoopOptions rounds = {.train = train, .limits = {.norm_ratio = 0}};
  RunRounds(rounds, transport, state, [&](const RoundReport& report) {
    result.bytes_down += report.bytes_down;
    result.bytes_up += report.bytes_up;
  });
  result.classifier.encoder = encoder;
  result.classifier.encoder.tensors = Under(state.global, method->EncoderPrefix());
  result.classifier.head = {.weight = state.global.at("head/weight"),
                            .bias = state.global.at("head/bias")};
  CheckConverged(result.classifier.head);
  return result;
}

uint64_t FinetuneImages(const Dataset& dataset, const Experiment& experiment) {
  return static_cast<uint64_t>(static_cast<double>(dataset.train.images.count) *
                               experiment.eval.labels * experiment.train.participation) *
         static_cast<uint64_t>(experiment.eval.rounds) *
         static_cast<uint64_t>(experiment.eval.local_epochs);
}

}  // namespace kindred

#include "client/round.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/rng.h"
#include "client/batches.h"
#include "model/feature_spread.h"
#include "model/floats.h"
#include "model/network.h"
#include "privacy/mechanism.h"

namespace kindred {
namespace {

Batch MakeBatch(const ClientData& data, const std::vector<int>& samples,
                const ClientOptions& options, const StepKey& key) {
  const Images& images = data.images;
  const auto size = static_cast<int64_t>(samples.size());
  Batch batch;
  batch.key = key;
  batch.samples = samples;
  batch.first = torch::empty({size, images.channels, images.height, images.width});
  batch.second = torch::empty_like(batch.first);
  MakeViewPairs(images, samples, options.views,
                {.seed = key.seed, .round = key.round, .client = key.client, .epoch = key.epoch},
                Floats(batch.first), Floats(batch.second));
  if (!data.labels.empty()) {
    std::vector<int64_t> labels;
    for (const int sample : samples) labels.push_back(data.labels[static_cast<size_t>(sample)]);
    batch.labels = torch::tensor(labels, torch::kInt64);
  }
  return batch;
}

// Makes the features that others get, with the model as it is, and returns what is reported of
// them.
Metrics AddFeatures(Method& method, const Plan& plan, const ClientData& data,
                    const ClientOptions& options, Outcome& outcome) {
  if (method.FeaturesToShare() == 0) return {};
  const FeatureRequest request = {.images = data.images,
                                  .normalization = options.views.normalization,
                                  .options = options.privacy,
                                  .secret = data.secret,
                                  .round = static_cast<uint32_t>(plan.round),
                                  .count = std::min(method.FeaturesToShare(), data.images.count),
                                  .batch = options.batch};
  const auto features = [&](const at::Tensor& images) { return method.FeaturesOf(images); };
  MadeFeatures made = ShareFeatures(request, features);
  const at::Tensor rows = made.rows();
  outcome.update.features = std::move(made.travelling);
  outcome.plain = std::move(made.kept);
  if (const auto why =
          CheckFeatures(rows, rows.size(1), rows.size(0), MechanismOf(options.privacy).unit_rows)) {
    throw UsageError(
        "round {}, client {}: its features diverged ({}); start again with a lower "
        "train.lr",
        plan.round + 1, data.client, *why);
  }
  const FeatureSpread spread = SpreadOf(rows);
  return {{"shared_cosine", spread.cosine}, {"shared_rank", spread.rank}};
}

// A channel that no image moves has a variance that falls to 0, which nobody takes.
void KeepVariancesPositive(const NamedTensors& model) {
  constexpr double kLeast = 1e-12;
  torch::NoGradGuard no_gradient;
  for (const auto& [name, tensor] : model) {
    if (name.ends_with("running_var")) at::Tensor(tensor).clamp_min_(kLeast);
  }
}

RngKey OrderKeyOf(const StepKey& epoch) {
  return {.seed = epoch.seed,
          .purpose = Purpose::kOrder,
          .round = epoch.round,
          .client = epoch.client,
          .epoch = epoch.epoch};
}

void LeaveIfAsked(const RoundHooks& hooks) {
  if (hooks.stop != nullptr && hooks.stop->load()) throw Interrupted{};
}

// EpochStart::each_batch of the epoch that begins with this step. All must outlive what it returns.
auto EachBatchOf(const ClientData& data, const ClientOptions& options, const StepKey& epoch,
                 const RoundHooks& hooks) {
  return [&, epoch](const std::function<void(const Batch&)>& look) {
    Rng order(OrderKeyOf(epoch));
    StepKey key = epoch;
    for (const auto& samples : WholeEpochBatches(data.images.count, options.batch, order)) {
      LeaveIfAsked(hooks);
      look(MakeBatch(data, samples, options, key));
      ++key.step;
    }
  };
}

}  // namespace

Outcome TrainClient(Method& method, const Plan& plan, const ClientData& data,
                    const ClientOptions& options, NamedTensors& local, const RoundHooks& hooks) {
  Check(method.UsesLabels() != data.labels.empty(), "labels go to methods that use them alone");
  CopyInto(plan.model, method.Shared());
  Outcome outcome;
  const bool global = options.features.encoder == "global";
  Metrics shared;
  if (global) shared = AddFeatures(method, plan, data, options, outcome);
  method.BeginRound({.round = plan.round, .rounds = plan.rounds, .remote = plan.remote}, local);
  // No gradient is left of the client before: SGD would treat a parameter without one otherwise.
  for (auto& tensor : method.Trained()) tensor.mutable_grad() = at::Tensor();
  torch::optim::SGD sgd(method.Trained(), torch::optim::SGDOptions(plan.lr)
                                              .momentum(options.momentum)
                                              .weight_decay(options.weight_decay));
  const Images& images = data.images;
  const auto observer = hooks.observe ? hooks.observe(data.client, plan.remote) : nullptr;
  Update& update = outcome.update;
  update.client = data.client;
  ClientReport& report = update.report;
  report.images = images.count;
  StepKey key{.seed = options.seed,
              .round = static_cast<uint32_t>(plan.round),
              .client = static_cast<uint32_t>(data.client)};
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    key.epoch = static_cast<uint32_t>(epoch);
    key.step = 0;
    method.BeginEpoch({key, images.count, EachBatchOf(data, options, key, hooks)}, local);
    Rng order(OrderKeyOf(key));
    for (const auto& samples : EpochBatches(images.count, options.batch, order)) {
      LeaveIfAsked(hooks);
      const Batch batch = MakeBatch(data, samples, options, key);
      sgd.zero_grad();
      const auto loss = method.Loss(batch, local);
      loss.backward();
      sgd.step();
      if (observer && method.Trace() != nullptr) observer->Step(batch, *method.Trace());
      method.AfterStep(local);
      const double value = loss.item<double>();
      if (!std::isfinite(value)) {
        throw UsageError("round {}, client {}: the loss is {}; start again with a lower train.lr",
                         plan.round + 1, data.client, value);
      }
      report.loss += value;
      ++report.steps;
      report.seen += static_cast<int64_t>(samples.size());
      ++key.step;
      if (hooks.on_step) hooks.on_step(static_cast<int>(samples.size()));
    }
  }
  report.loss /= static_cast<double>(report.steps);
  report.metrics = method.EndRound(local);
  KeepVariancesPositive(method.Shared());
  update.model = Clone(method.Shared());
  if (!global) shared = AddFeatures(method, plan, data, options, outcome);
  report.metrics.merge(shared);
  if (observer) outcome.observed = observer->End();
  return outcome;
}

}  // namespace kindred

#include "transport/in_process.h"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "base/error.h"
#include "base/parallel.h"
#include "model/one_thread.h"

namespace kindred {

InProcess::InProcess(const Clients& clients, int workers, const RoundHooks& hooks, int cores)
    : clients_(clients),
      hooks_(hooks),
      cores_(std::max(cores, workers)),
      threads_(std::make_shared<std::atomic<int>>(1)) {
  clients_.method.model.threads = threads_;
  for (int w = 0; w < workers; ++w) models_.push_back(MakeMethod(clients_.method));
}

namespace {

// What the server sees of a simulated client: the update, and what only a simulation can have.
Arrival Arrive(Outcome&& outcome) {
  Update& update = outcome.update;
  Arrival arrival = {.client = update.client,
                     .model = std::move(update.model),
                     .features = update.features.rows(),
                     .report = std::move(update.report)};
  if (outcome.plain.rows().defined()) arrival.features = outcome.plain.rows();
  arrival.report.metrics.merge(outcome.observed);
  return arrival;
}

}  // namespace

std::vector<int> InProcess::Available() {
  std::vector<int> all(static_cast<size_t>(clients_.partition.Clients()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::optional<Traffic> InProcess::Run(const PlanFor& plan_for, const Chosen& chosen,
                                      Intake& intake) {
  std::mutex step_mutex, arrival_mutex;  // of the caller's functions
  RoundHooks hooks = hooks_;
  if (hooks_.on_step) {
    hooks.on_step = [&](int images) {
      const std::lock_guard lock(step_mutex);
      hooks_.on_step(images);
    };
  }
  const int at_once = static_cast<int>(models_.size());
  const int count = static_cast<int>(chosen.clients.size());
  std::atomic<int> left = count;
  Traffic traffic;
  const auto share_cores = [&](int clients) {
    threads_->store(std::max(1, cores_ / std::clamp(clients, 1, at_once)));
  };
  share_cores(left);
  const auto train = [&](int worker, int place) {
    UseOneThread();
    Method& model = *models_[static_cast<size_t>(worker)];
    const int client = chosen.clients[static_cast<size_t>(place)];
    const auto& own = clients_.partition.clients[static_cast<size_t>(client)];
    NamedTensors local = clients_.store.Get(client, [&] { return model.NewLocalState(); });
    ClientData data = {client, Select(clients_.data.images, own),
                       SeededSecret(clients_.options.seed, client)};
    if (model.UsesLabels()) {
      for (const int i : own) data.labels.push_back(clients_.data.labels[static_cast<size_t>(i)]);
    }
    const Plan plan = plan_for(client);
    Arrival arrival = Arrive(TrainClient(model, plan, data, clients_.options, local, hooks));
    clients_.store.Put(client, std::move(local));
    share_cores(--left);
    const std::lock_guard lock(arrival_mutex);
    traffic.down += BytesOf(plan.model) + BytesOf(plan.remote.rows);
    traffic.up += BytesOf(arrival.model) + BytesOf(arrival.features);
    if (const auto why = intake.Add(std::move(arrival))) {
      throw UsageError("round {}, client {}: {}{}", plan.round + 1, client, TextOf(*why),
                       why->reason == Refusal::kNorm
                           ? "; training has probably diverged: lower train.lr, or raise "
                             "server.norm_ratio"
                           : "");
    }
  };
  ParallelFor(at_once, count, train);
  return traffic;
}

}  // namespace kindred

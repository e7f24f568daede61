#include "transport/in_process.h"

#include <mutex>

#include "base/parallel.h"
#include "model/one_thread.h"

namespace kindred {

InProcess::InProcess(const Clients& clients, int workers, const RoundHooks& hooks)
    : clients_(clients), hooks_(hooks) {
  for (int w = 0; w < workers; ++w) models_.push_back(MakeMethod(clients.method));
}

void InProcess::Run(const Plan& plan, std::span<const int> chosen, const OnUpdate& on_update) {
  std::mutex step_mutex, update_mutex;  // of the caller's functions
  RoundHooks hooks = hooks_;
  if (hooks_.on_step) {
    hooks.on_step = [&](int images) {
      const std::lock_guard lock(step_mutex);
      hooks_.on_step(images);
    };
  }
  const auto train = [&](int worker, int i) {
    UseOneThread();
    Method& model = *models_[static_cast<size_t>(worker)];
    const int client = chosen[static_cast<size_t>(i)];
    const auto& own = clients_.partition.clients[static_cast<size_t>(client)];
    NamedTensors local = clients_.store.Get(client, [&] { return model.NewLocalState(); });
    Update update = TrainClient(model, plan, {client, Select(clients_.data.images, own)},
                                clients_.options, local, hooks);
    clients_.store.Put(client, std::move(local));
    const std::lock_guard lock(update_mutex);
    on_update(std::move(update));
  };
  ParallelFor(static_cast<int>(models_.size()), static_cast<int>(chosen.size()), train);
}

}  // namespace kindred

#include "transport/in_process.h"

#include <torch/torch.h>

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

extern "C" void openblas_set_num_threads(int) __attribute__((weak));

namespace kindred {

void UseOneThread() {
  at::set_num_threads(1);
  // OpenBLAS keeps a pool of its own; another BLAS does not have this function.
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
}

InProcess::InProcess(const Clients& clients, int workers, const RoundHooks& hooks)
    : clients_(clients), hooks_(hooks) {
  for (int w = 0; w < workers; ++w) models_.push_back(MakeMethod(clients.method));
}

void InProcess::Run(const Plan& plan, std::span<const int> chosen, const OnUpdate& on_update) {
  std::atomic<size_t> next = 0;
  std::atomic<bool> failed = false;
  std::exception_ptr failure;
  std::mutex mutex;  // of everything below that is not a worker's own
  RoundHooks hooks = hooks_;
  if (hooks_.on_step) {
    hooks.on_step = [&](int images) {
      const std::lock_guard lock(mutex);
      hooks_.on_step(images);
    };
  }
  const auto work = [&](Method& model) {
    UseOneThread();
    try {
      for (size_t i = next++; i < chosen.size() && !failed; i = next++) {
        const int client = chosen[i];
        const auto& own = clients_.partition.clients[static_cast<size_t>(client)];
        const Images images = Select(clients_.data.images, own);
        NamedTensors local = clients_.store.Get(client, [&] { return model.NewLocalState(); });
        Update update = TrainClient(model, plan, client, images, clients_.options, local, hooks);
        clients_.store.Put(client, std::move(local));
        const std::lock_guard lock(mutex);
        on_update(std::move(update));
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  for (size_t w = 0; w < std::min(models_.size(), chosen.size()); ++w) {
    threads.emplace_back([&work, &model = *models_[w]] { work(model); });
  }
  for (auto& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace kindred

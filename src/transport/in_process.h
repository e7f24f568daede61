// Clients as tasks on a pool of threads in this process.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "client/local_store.h"
#include "partition/partition.h"
#include "transport/transport.h"

namespace kindred {

// What the simulated clients are: whose images, what they train, what they keep.
struct Clients {
  const Split& data;  // the whole training set; client c owns partition.clients[c]
  const Partition& partition;
  MethodContext method;
  ClientOptions options;
  LocalStore& store;
};

// Each worker has one resident model and the images of one client at a time. Cores that no client
// is left for, of `cores` in all (as many as workers when 0), become threads inside the
// convolutions of those that still train. The result is the same for any number of both.
class InProcess : public Transport {
 public:
  InProcess(const Clients& clients, int workers, const RoundHooks& hooks, int cores = 0);

  std::vector<int> Available() override;

  // Every client of the round is waited for. An update that is refused ends the run by a usage
  // error: in a simulation nobody is hostile, training has gone wrong.
  std::optional<Traffic> Run(const PlanFor& plan_for, const Chosen& chosen,
                             Intake& intake) override;

 private:
  Clients clients_;
  RoundHooks hooks_;
  int cores_;
  std::shared_ptr<std::atomic<int>> threads_;    // of each model, now
  std::vector<std::unique_ptr<Method>> models_;  // one per worker
};

}  // namespace kindred

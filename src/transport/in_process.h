// Clients as tasks on a pool of threads in this process.
#pragma once

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

// Each worker has one resident model (with the threads that the method's model options say) and the
// images of one client at a time. The result is the same for any number of workers.
class InProcess : public Transport {
 public:
  InProcess(const Clients& clients, int workers, const RoundHooks& hooks);

  void Run(const PlanFor& plan_for, std::span<const int> chosen,
           const OnArrival& on_arrival) override;

 private:
  Clients clients_;
  RoundHooks hooks_;
  std::vector<std::unique_ptr<Method>> models_;  // one a worker
};

}  // namespace kindred

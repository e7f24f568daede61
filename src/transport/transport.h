// How a plan travels out to clients and their updates come back.
#pragma once

#include <functional>
#include <span>

#include "client/round.h"

namespace kindred {

// An update as it arrives at the server. A transport that takes bytes from outside checks them
// against the manifest first; whether features can be features the round loop sees to.
struct Arrival {
  int client = 0;
  NamedTensors model;
  at::Tensor features;  // undefined: none
  int64_t images = 0;
  double loss = 0;
  int64_t steps = 0;
  int64_t seen = 0;
  Metrics metrics;
};

// Called once for each update, never twice at a time, in any order.
using OnArrival = std::function<void(Arrival&& arrival)>;

// What a client of the round is to be sent. May be called from several threads.
using PlanFor = std::function<Plan(int client)>;

class Transport {
 public:
  virtual ~Transport() = default;

  // Hands their plans to the clients and what comes back to `on_arrival`; returns when all are in.
  virtual void Run(const PlanFor& plan_for, std::span<const int> clients,
                   const OnArrival& on_arrival) = 0;
};

}  // namespace kindred

// How a plan travels out to clients and their updates come back.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/round.h"
#include "transport/refusal.h"

namespace kindred {

// An update as it arrives at the server. A transport that takes bytes from outside checks them
// against the manifest first; whether the values can be those of an update the round loop sees to.
struct Arrival {
  int client = 0;
  NamedTensors model;   // may live in the bytes of an upload: who keeps it makes a copy
  at::Tensor features;  // undefined: none
  ClientReport report;
};

// Called once for each update, never twice at a time, in any order. Says why an update is refused;
// nullopt: it counts.
using OnArrival = std::function<std::optional<Refused>(Arrival&& arrival)>;

// What a client of the round is to be sent. May be called from several threads, until Run returns.
using PlanFor = std::function<Plan(int client)>;

// Whom a round asks.
struct Chosen {
  std::vector<int> clients;
  int wanted = 0;  // the round may end when so many updates count
};

// Bytes that went over the wire, or would have.
struct Traffic {
  uint64_t down = 0, up = 0;
};

class Transport {
 public:
  virtual ~Transport() = default;

  // The clients that a round may ask, in rising order; waits until there are enough.
  virtual std::vector<int> Available() = 0;

  // Hands their plans to the clients and what comes back to `on_arrival`; returns when the round is
  // over: as many as are wanted are in, or as its own rules say. Nothing: too few came and no more
  // will; what came does not count, and the round is to be tried again with those there are.
  virtual std::optional<Traffic> Run(const PlanFor& plan_for, const Chosen& chosen,
                                     const OnArrival& on_arrival) = 0;
};

}  // namespace kindred

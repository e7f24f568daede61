// How a plan travels out to clients and their updates come back.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
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

// What the intake of one process has of a round, for that of another process of the same program.
struct IntakePart {
  Bytes reports;  // of each update all but its model
  Bytes models;   // as the rule has them (Aggregate::Part)
};

// What a round does with the updates that come in.
class Intake {
 public:
  virtual ~Intake() = default;

  // Takes an update; never called twice at a time, in any order of clients. Says why it is refused;
  // nullopt: it counts.
  virtual std::optional<Refused> Add(Arrival&& arrival) = 0;

  // What has been added,
  virtual IntakePart Part() const = 0;
  // which another process of this run takes as if each update had been added there.
  virtual void Merge(const IntakePart& part) = 0;
};

// What a client of the round is to be sent. May be called from several threads, until Run returns.
using PlanFor = std::function<Plan(int client)>;

// Whom a round asks.
struct Chosen {
  int round = 0;
  std::vector<int> clients;
  int wanted = 0;  // the round may end when so many updates count
};

// What a round cost.
struct Traffic {
  uint64_t down = 0, up = 0;  // bytes that went over the wire, or would have
  double cpu_seconds = 0;     // of other processes of this run
};

class Transport {
 public:
  virtual ~Transport() = default;

  // The clients that a round may ask, in rising order; waits until there are enough.
  virtual std::vector<int> Available() = 0;

  // Hands their plans to the clients and what comes back to `intake`; returns when the round is
  // over: as many as are wanted are in, or as its own rules say. nullopt: too few updates came;
  // discard them and try the round again with the clients there are.
  virtual std::optional<Traffic> Run(const PlanFor& plan_for, const Chosen& chosen,
                                     Intake& intake) = 0;
};

}  // namespace kindred

// How a plan travels out to clients and their updates come back.
#pragma once

#include <functional>
#include <span>

#include "client/round.h"

namespace kindred {

// Called once for each update, never twice at a time, in any order.
using OnUpdate = std::function<void(Update&& update)>;

class Transport {
 public:
  virtual ~Transport() = default;

  // Hands the plan to the chosen clients and their updates to `on_update`; returns when all are in.
  virtual void Run(const Plan& plan, std::span<const int> clients, const OnUpdate& on_update) = 0;
};

}  // namespace kindred

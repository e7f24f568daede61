// An intake that does what a test says.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>

#include "transport/transport.h"

namespace kindred {

class FunctionIntake : public Intake {
 public:
  using Adds = std::function<std::optional<Refused>(Arrival&&)>;

  explicit FunctionIntake(Adds add) : add_(std::move(add)) {}
  std::optional<Refused> Add(Arrival&& arrival) override { return add_(std::move(arrival)); }
  IntakePart Part() const override { return {}; }
  void Merge(const IntakePart&) override { ADD_FAILURE() << "there is no other process"; }

 private:
  Adds add_;
};

}  // namespace kindred

// The updates of a round as they come in: each is checked whole, then counts.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "aggregate/rule.h"
#include "server/capped_rule.h"
#include "server/round_loop.h"
#include "server/update_checks.h"
#include "transport/transport.h"

namespace kindred {

class RoundIntake : public Intake {
 public:
  // `options` and `state` must outlive it; the state is that of the round's beginning, `chosen`
  // whom the whole round asks.
  RoundIntake(const RoundLoopOptions& options, const Chosen& chosen, const ServerState& state);

  // When it throws, for want of memory, the update has not come and may come again.
  std::optional<Refused> Add(Arrival&& arrival) override;
  IntakePart Part() const override;
  void Merge(const IntakePart& part) override;

  // By client, without their models.
  const std::map<int, Arrival>& Arrivals() const { return arrivals_; }

  // What the rule makes of the models, of which there must be some.
  NamedTensors Model() { return rule_->Finish(); }

  // Of those whose weight was cut below their images, once the model is made: what they count.
  std::map<int, int64_t> Cut() const {
    return capped_ != nullptr ? capped_->Cut() : std::map<int, int64_t>();
  }

  // How far a usual update of this round went.
  UsualDelta Usual() const;

 private:
  const RoundLoopOptions& options_;
  const ServerState& state_;
  OrderedRows shared_;  // the pool's
  UsualDelta usual_;
  std::map<int, int64_t> enrolled_, weights_;  // of those asked
  std::unique_ptr<Aggregate> rule_;
  const CappedRule* capped_ = nullptr;  // the rule, when weights depend on who arrives
  std::map<int, Arrival> arrivals_;
  std::map<int, double> norms_;  // |theta_c - theta|
  int64_t weight_ = 0;
};

}  // namespace kindred

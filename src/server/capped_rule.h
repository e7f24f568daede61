// A server rule whose weights are cut by who has arrived (capped_weights.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>

#include "aggregate/rule.h"
#include "server/capped_weights.h"

namespace kindred {

// Who arrives is known when the round is over. The few largest updates, the only ones that may be
// cut, are held back until then; the others go to the rule at once, with their whole weight. So the
// result does not depend on the order of adding.
class CappedRule : public Aggregate {
 public:
  // `claims`: clients whose number of images is their own word.
  CappedRule(std::unique_ptr<Aggregate> rule, const ShareLimits& limits, std::set<int> claims);

  // Keeps a copy of a model that it holds back.
  void Add(int client, NamedTensors model, int64_t weight) override;
  NamedTensors Finish() override;

  // Rounds of one process only.
  Bytes Part() const override;
  void Merge(const Bytes& part) override;

  // The weights of those that were cut, once Finish has returned.
  const std::map<int, int64_t>& Cut() const { return cut_; }

 private:
  struct Held {
    int client;
    NamedTensors model;
  };

  void Place(int client, NamedTensors model, int64_t weight);

  const std::unique_ptr<Aggregate> rule_;
  const ShareLimits limits_;
  const std::set<int> claims_;
  std::map<int, int64_t> images_;      // of all
  std::multimap<int64_t, Held> held_;  // the largest, by images
  std::map<int, int64_t> cut_;
};

}  // namespace kindred

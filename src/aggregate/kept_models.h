// What rules that need all models of a round at once have in common.
#pragma once

#include <functional>
#include <map>
#include <span>

#include "aggregate/rule.h"

namespace kindred {

// The models by client, so that nothing depends on who came first.
using ModelsByClient = std::map<int, NamedTensors>;

// Keeps what is added until it is taken.
class KeptModels : public Aggregate {
 public:
  void Add(int client, NamedTensors model, int64_t weight) override;
  Bytes Part() const override;
  void Merge(const Bytes& part) override;

 protected:
  const ModelsByClient& Models() const;  // at least one

 private:
  ModelsByClient models_;
};

// Each of `width` places of a tensor has `count` values, one per client: row r holds each place's
// r-th smallest.
struct SortedValues {
  size_t count = 0, width = 0;
  const float* values = nullptr;  // [count, width]

  std::span<const float> Row(size_t r) const { return {values + r * width, width}; }
};

// A model made value by value: `combine` fills the places of `out` from their sorted values, some
// hundred places at a time. Counters give their maximum.
NamedTensors ValueByValue(
    const ModelsByClient& models,
    const std::function<void(const SortedValues& sorted, std::span<float> out)>& combine);

// The largest counters of all, and the given floats.
NamedTensors WithLargestCounters(const ModelsByClient& models, NamedTensors floats);

}  // namespace kindred

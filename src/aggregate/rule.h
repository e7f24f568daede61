// A server rule: how the models of a round's clients become one. The seam that each rule of the
// table (rule_kinds.h) fills.
#pragma once

#include <cstdint>
#include <memory>

#include "aggregate/rule_kinds.h"
#include "base/file.h"
#include "model/named_tensors.h"

namespace kindred {

// The models of one round. Each client is added once, with the tensors, shapes and kinds of the
// others and finite floats below 2^20: who takes bytes from outside sees to that first. The result
// does not depend on the order of adding. Not to be shared between threads.
class Aggregate {
 public:
  virtual ~Aggregate() = default;

  // weight: |D_c|, as WeightedMean takes it. The robust rules ignore it: a hostile client would
  // choose its own.
  virtual void Add(int client, NamedTensors model, int64_t weight) = 0;

  // What was added, for the same rule in another process of this program,
  virtual Bytes Part() const = 0;
  // which goes on as if those models had been added to it.
  virtual void Merge(const Bytes& part) = 0;

  // The model made of those added, which must be some. Integer tensors (counters) give their
  // maximum; what is positive in every model (running variances) is never negative.
  virtual NamedTensors Finish() = 0;
};

// Throws a usage error unless a round of so many clients is enough for the rule.
void CheckRule(const RuleOptions& options, int clients);

std::unique_ptr<Aggregate> MakeRule(const RuleOptions& options);

}  // namespace kindred

// A server rule: how the models of a round's clients become one. The table of rules, and the seam
// each of them fills.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "aggregate/rule_options.h"
#include "base/ranks.h"
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

  // As if rank 0 had added what all ranks did, models like this one. Called by every rank.
  virtual void Collect(Ranks& ranks, const NamedTensors& like) = 0;

  // The model made of those added, which must be some. Integer tensors (counters) give their
  // maximum; what is positive in every model (running variances) is never negative.
  virtual NamedTensors Take() = 0;
};

// An entry of the table: to add a rule, write its file and one such line in rule.cc.
struct RuleKind {
  const char* name;
  const char* reference;  // paper, venue, year
  const char* summary;
  bool keeps_models;  // it holds every model of a round; else one sum of 16 bytes a value
  int (*least_clients)(const RuleOptions& options);
  std::unique_ptr<Aggregate> (*make)(const RuleOptions& options);
};

std::span<const RuleKind> RuleKinds();

// The entry of that name. Throws a usage error when there is none.
const RuleKind& RuleNamed(const std::string& name);

// Throws a usage error unless a round of so many clients is enough for the rule.
void CheckRule(const RuleOptions& options, int clients);

std::unique_ptr<Aggregate> MakeRule(const RuleOptions& options);

}  // namespace kindred

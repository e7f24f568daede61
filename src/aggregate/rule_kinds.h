// The table of server rules, the part that needs no LibTorch.
#pragma once

#include <span>
#include <string>

#include "aggregate/rule_options.h"

namespace kindred {

// An entry of the table. To add a rule, write its file, one such line in rule_kinds.cc and its
// maker in rule.cc.
struct RuleKind {
  const char* name;
  const char* reference;  // paper, venue, year
  const char* summary;
  bool keeps_models;  // it holds every model of a round; else one sum of 16 bytes per value
  int (*least_clients)(const RuleOptions& options);
};

std::span<const RuleKind> RuleKinds();

// The entry of that name. Throws a usage error when there is none.
const RuleKind& RuleNamed(const std::string& name);

}  // namespace kindred

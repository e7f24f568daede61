// [server]: which rule makes one model of a round's updates.
#pragma once

#include <string>

#include "base/config.h"

namespace kindred {

// [server]
struct RuleOptions {
  std::string rule = "mean";
  double trim = 0.2;  // of trimmed: the share of clients left out at each end, rounded up
  int byzantine = 1;  // of krum: f, how many clients may be hostile
};

void Bind(Config& config, RuleOptions& options);

}  // namespace kindred

// [features]: what the server keeps of the features that clients share.
#pragma once

#include "base/config.h"

namespace kindred {

// [features]
struct FeatureOptions {
  int max_age = 10;    // rounds; older features are dropped
  int max_remote = 0;  // rows a client is sent at most, drawn uniformly; 0: all
};

void Bind(Config& config, FeatureOptions& options);

}  // namespace kindred

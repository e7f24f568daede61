// [privacy]: how features are made that may leave a client.
#pragma once

#include <string>

#include "base/config.h"

namespace kindred {

// [privacy]
struct PrivacyOptions {
  std::string features = "encoded";  // the mechanism: a name of mechanism_kinds.h
  int mix = 4;                       // k: images in an encoding
  std::string input = "magnitude";   // signed: x' as InstaHide makes it; magnitude: |x'|
  std::string statistics = "batch";  // batch norm of the encoding pass: running or batch
};

void Bind(Config& config, PrivacyOptions& options);

}  // namespace kindred

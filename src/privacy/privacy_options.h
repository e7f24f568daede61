// [privacy]: how features are made that may leave a client.
#pragma once

#include <optional>
#include <string>

#include "base/config.h"
#include "base/json.h"

namespace kindred {

// [privacy]
struct PrivacyOptions {
  std::string features = "encoded";  // the mechanism: a name of mechanism_kinds.h
  int mix = 4;                       // k: images in an encoding
  std::string input = "magnitude";   // signed: x' as InstaHide makes it; magnitude: |x'|
  std::string statistics = "batch";  // batch norm of the encoding pass: running or batch
};

void Bind(Config& config, PrivacyOptions& options);

// The options as one JSON object: what a summary and an exported encoder say of shared features.
Json ToJson(const PrivacyOptions& options);

// Back from one that somebody else may have written: a number that cannot be is left out. nullopt:
// it names no mechanism of this program.
std::optional<PrivacyOptions> PrivacyOptionsIn(const Json& json);

}  // namespace kindred

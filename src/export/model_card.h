// The page that goes with an exported encoder: what it is, how it was made, what it may be used
// for.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "model/encoder.h"

namespace kindred {

struct ModelCard {
  const Encoder& encoder;
  Json origin;                // as TrainedEncoder's
  std::string license;        // empty: not said
  std::string onnx_input;     // "float" or "uint8"
  std::vector<Json> metrics;  // lines of metrics.jsonl about this encoder
};

// Markdown. Names from files are made printable.
std::string ModelCardText(const ModelCard& card);

}  // namespace kindred

// An encoder with random weights, as one is exported.
#pragma once

#include "model/encoder.h"
#include "model/network.h"
#include "model/resnet.h"

namespace kindred {

inline Encoder ExportedEncoder(const std::string& arch = "resnet10", int channels = 3) {
  const ModelOptions options = {.arch = arch, .width = 4, .bn_splits = 1};
  ResNet model(options, channels);
  Initialize(*model, 1);
  return {
      Clone(OwnTensorsOf(*model)), options, {{channels, 8, 8}, {{.5f, .4f, .3f}, {.2f, .2f, .3f}}}};
}

}  // namespace kindred

// An encoder as an ONNX model: images in, h out, for ONNX Runtime, OpenCV and others.
#pragma once

#include "base/file.h"
#include "model/encoder.h"

namespace kindred {

enum class OnnxInput {
  kFloat,  // [batch, channels, height, width] in [0, 1]
  kUint8   // the same as bytes, 0 to 255
};

// Normalisation is part of the graph. Input "images", output "h": [batch, features]. Passes ONNX's
// own checker.
Bytes OnnxModel(const Encoder& encoder, OnnxInput input);

}  // namespace kindred

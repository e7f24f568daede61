// An encoder as a safetensors file: torchvision's names, and in the header what it takes to use it.
#pragma once

#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "model/encoder.h"

namespace kindred {

// An encoder and where it comes from: method, data, rounds, digests (a JSON object).
struct EncoderFile {
  Encoder encoder;
  Json origin;
};

Bytes SerializeEncoder(const EncoderFile& content);

// Throws a data error when the file is not sound or not such an encoder's.
EncoderFile ReadEncoderFile(const std::filesystem::path& path);

}  // namespace kindred

// safetensors: tensors by name in one file, readable everywhere, nothing executable in it.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "model/named_tensors.h"
#include "model/safetensors_layout.h"

namespace kindred {

struct Safetensors {
  NamedTensors tensors;                         // float32 (F32) and int64 (I64)
  std::map<std::string, std::string> metadata;  // __metadata__
};

// The file's bytes. Tensors lie in the order of their names; the header is padded to 8 bytes.
Bytes SerializeSafetensors(const Safetensors& content);

// For a file that is written in pieces (SafetensorsHeader): adds the entries of tensors under
// "prefixname".
void AddEntries(std::vector<TensorEntry>& entries, const std::string& prefix,
                const NamedTensors& tensors);

// The memory of a tensor at rest.
std::span<const uint8_t> BytesIn(const at::Tensor& tensor);

// Reads them back, copying. Throws a data error unless the file is as sound as
// ParseSafetensorsLayout asks. `name` is for messages.
Safetensors ParseSafetensors(std::span<const uint8_t> bytes, const std::string& name);

}  // namespace kindred

// safetensors: tensors by name in one file, readable everywhere, nothing executable in it.
//
//   u64 little-endian N, N bytes of JSON, then the tensors' bytes one after the other.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "model/named_tensors.h"

namespace kindred {

struct Safetensors {
  NamedTensors tensors;                         // float32 (F32) and int64 (I64)
  std::map<std::string, std::string> metadata;  // __metadata__
};

// The file's bytes. Tensors lie in the order of their names; the header is padded to 8 bytes.
Bytes SerializeSafetensors(const Safetensors& content);

// For a file that is written in pieces: what a tensor's place in the header says,
struct TensorEntry {
  std::string name;
  bool integer = false;  // I64, else F32
  std::vector<int64_t> shape;
  uint64_t bytes = 0;
};

// adds the entries of tensors under "prefixname",
void AddEntries(std::vector<TensorEntry>& entries, const std::string& prefix,
                const NamedTensors& tensors);

// gives what comes before the tensors' bytes, which follow in the order of the entries. Throws a
// data error when the header would be too large to be read back.
Bytes SafetensorsHeader(const std::vector<TensorEntry>& entries,
                        const std::map<std::string, std::string>& metadata);

// The memory of a tensor at rest.
std::span<const uint8_t> BytesIn(const at::Tensor& tensor);

// Reads them back, copying. Throws a data error unless the header is sound: its size within the
// file and 16 MB, no name twice, unsigned offsets that begin at 0, leave no hole, do not overlap
// and end with the file, shapes that account for them. `name` is for messages.
Safetensors ParseSafetensors(std::span<const uint8_t> bytes, const std::string& name);

}  // namespace kindred

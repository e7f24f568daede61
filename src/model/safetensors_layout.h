// What comes before the tensors' bytes in a safetensors file: their names, kinds, shapes and
// places.
//
//   u64 little-endian N, N bytes of JSON, then the tensors' bytes one after the other.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"

namespace kindred {

// A tensor of the file.
struct TensorEntry {
  std::string name;
  bool integer = false;  // I64, else F32
  std::vector<int64_t> shape;
  uint64_t bytes = 0;

  bool operator==(const TensorEntry&) const = default;
};

struct SafetensorsLayout {
  std::vector<TensorEntry> entries;             // in the order of their bytes
  std::map<std::string, std::string> metadata;  // __metadata__
  uint64_t start = 0;                           // of the tensors' bytes, which lie without a hole
};

// The file's first bytes, padded to 8; the tensors' bytes follow in the order of the entries.
// Throws a data error when the header would be too large to be read back.
Bytes SafetensorsHeader(const std::vector<TensorEntry>& entries,
                        const std::map<std::string, std::string>& metadata);

// Reads it back. Throws a data error unless the header is sound: its size within the file and
// 16 MB, no name twice, unsigned offsets that begin at 0, leave no hole, do not overlap and end
// with the file, shapes that account for them. `name` is for messages.
SafetensorsLayout ParseSafetensorsLayout(std::span<const uint8_t> bytes, const std::string& name);

}  // namespace kindred

#include "export/npy.h"

#include <fmt/format.h>

#include "model/safetensors.h"

namespace kindred {

Bytes SerializeNpy(const at::Tensor& rows) {
  std::string header =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows.size(0),
                  rows.size(1));
  constexpr size_t kPrefix = 10;                            // magic, version, length
  header.append(63 - (kPrefix + header.size()) % 64, ' ');  // the array begins at a multiple of 64
  header += '\n';
  const std::string start = std::string("\x93NUMPY\x01\0", 8) +
                            static_cast<char>(header.size() & 0xff) +
                            static_cast<char>(header.size() >> 8) + header;
  Bytes bytes(start.begin(), start.end());
  const auto values = BytesIn(rows);
  bytes.insert(bytes.end(), values.begin(), values.end());
  return bytes;
}

}  // namespace kindred

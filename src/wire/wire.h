// Models and features as they travel: raw tensors, one after the other, in the order of a manifest.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "model/named_tensors.h"
#include "wire/manifest.h"

namespace kindred {

// The manifest of these tensors, in the order of their names.
Manifest ManifestOf(const NamedTensors& tensors, Precision precision);

// Bytes to be sent, read where the tensors lie: they are kept, not copied, unless they travel as
// 16-bit floats.
class Content {
 public:
  Content(const NamedTensors& tensors, const Manifest& manifest);
  Content(const at::Tensor& rows, Precision precision);  // undefined: no bytes

  uint64_t size() const { return size_; }
  // Those from `offset` on, which must be there.
  void Read(uint64_t offset, std::span<uint8_t> into) const;
  std::string Digest() const;

 private:
  struct Part {
    uint64_t offset;
    at::Tensor tensor;
  };
  void Add(const at::Tensor& tensor);

  std::vector<Part> parts_;
  uint64_t size_ = 0;
};

// The bytes of tensors that have this manifest.
Bytes Pack(const NamedTensors& tensors, const Manifest& manifest);

// The tensors in bytes of this manifest, which must be as long as it says. Floats of 32 bits
// that lie in line are not copied: they live as long as `bytes`, which must be aligned to 4.
NamedTensors Unpack(std::span<uint8_t> bytes, const Manifest& manifest);

// Rows of features: [rows, width].
at::Tensor UnpackRows(std::span<const uint8_t> bytes, int64_t rows, int64_t width,
                      Precision precision);

std::string DigestOfBytes(std::span<const uint8_t> bytes);

}  // namespace kindred

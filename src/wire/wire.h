// Models and features as they travel: raw tensors, one after the other, in the order of a manifest.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "model/named_tensors.h"

namespace kindred {

// What this program speaks; both ends must speak the same.
inline constexpr uint32_t kProtocol = 2;

// Bytes in a message at most.
inline constexpr uint64_t kMostChunk = 1 << 20;

// Bytes in the next message of a transfer that has moved so many. Small at first: a slow link must
// get one through within server.rate_window, and what is on its way may still be in buffers.
uint64_t NextChunk(uint64_t moved);

// kHalf: weights (tensors of two axes and more) and features as 16-bit floats; vectors, which hold
// running statistics, stay as they are.
enum class Precision { kFloat, kHalf };

// Where a tensor lies in the bytes, and as what.
struct TensorSpan {
  std::string name;
  std::string kind;  // F32, F16, I64
  std::vector<int64_t> shape;
  uint64_t offset = 0, bytes = 0;

  bool operator==(const TensorSpan&) const = default;
};

using Manifest = std::vector<TensorSpan>;

// The manifest of these tensors, in the order of their names.
Manifest ManifestOf(const NamedTensors& tensors, Precision precision);

uint64_t BytesOf(const Manifest& manifest);
std::string HashOf(const Manifest& manifest);

// Why what somebody claims to send is not what the manifest asks for; nullopt when it is.
std::optional<std::string> CheckManifest(const Manifest& claimed, const Manifest& wanted);

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
uint64_t BytesOfRows(uint64_t rows, uint64_t width, Precision precision);

std::string DigestOfBytes(std::span<const uint8_t> bytes);

}  // namespace kindred

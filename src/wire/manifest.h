// What lies where in an upload's or a model's bytes, without the tensors themselves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

uint64_t BytesOf(const Manifest& manifest);
std::string HashOf(const Manifest& manifest);

// Why what somebody claims to send is not what the manifest asks for; nullopt when it is.
std::optional<std::string> CheckManifest(const Manifest& claimed, const Manifest& wanted);

// Bytes of rows of features: [rows, width].
uint64_t BytesOfRows(uint64_t rows, uint64_t width, Precision precision);

}  // namespace kindred

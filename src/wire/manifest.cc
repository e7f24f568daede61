#include "wire/manifest.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/digest.h"
#include "base/error.h"

namespace kindred {

uint64_t NextChunk(uint64_t moved) {
  return std::clamp(moved / 64, uint64_t{64} << 10, kMostChunk);
}

uint64_t BytesOf(const Manifest& manifest) {
  return manifest.empty() ? 0 : manifest.back().offset + manifest.back().bytes;
}

std::string HashOf(const Manifest& manifest) {
  Digest digest;
  digest.Add(std::string_view("kindred manifest 1"));
  for (const auto& span : manifest) {
    digest.Add(std::string_view(span.name)).Add(std::string_view(span.kind));
    digest.Add(static_cast<int64_t>(span.shape.size()));
    for (const int64_t size : span.shape) digest.Add(size);
    digest.Add(static_cast<int64_t>(span.offset)).Add(static_cast<int64_t>(span.bytes));
  }
  return digest.Hex();
}

std::optional<std::string> CheckManifest(const Manifest& claimed, const Manifest& wanted) {
  for (size_t i = 0; i < std::min(claimed.size(), wanted.size()); ++i) {
    const TensorSpan &has = claimed[i], &wants = wanted[i];
    if (has == wants) continue;
    if (has.name != wants.name) {
      return fmt::format("tensor {} is {}, not {}", i, Printable(has.name), wants.name);
    }
    if (has.kind != wants.kind) {
      return fmt::format("{} is of kind {}, not {}", wants.name, Printable(has.kind), wants.kind);
    }
    if (has.shape != wants.shape) {
      return fmt::format("{} has another shape than [{}]", wants.name,
                         fmt::join(wants.shape, ", "));
    }
    return fmt::format("{} lies at {} + {} bytes, not at {} + {}", wants.name, has.offset,
                       has.bytes, wants.offset, wants.bytes);
  }
  if (claimed.size() != wanted.size()) {
    return fmt::format("{} tensors, not {}", claimed.size(), wanted.size());
  }
  return std::nullopt;
}

uint64_t BytesOfRows(uint64_t rows, uint64_t width, Precision precision) {
  return rows * width * (precision == Precision::kHalf ? 2 : 4);
}

}  // namespace kindred

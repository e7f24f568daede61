#include "wire/wire.h"

#include <torch/torch.h>

#include <algorithm>
#include <cstring>

#include "base/digest.h"
#include "base/error.h"
#include "model/safetensors.h"

namespace kindred {
namespace {

std::string KindOf(const at::Tensor& tensor, Precision precision) {
  if (tensor.scalar_type() == torch::kInt64) return "I64";
  return precision == Precision::kHalf && tensor.dim() >= 2 ? "F16" : "F32";
}

uint64_t SizeOf(const std::string& kind) { return kind == "I64" ? 8 : kind == "F16" ? 2 : 4; }

at::Tensor AsHalf(const at::Tensor& tensor) { return tensor.to(torch::kHalf).contiguous(); }

// A copy of bytes as a tensor of floats.
at::Tensor FromHalf(std::span<const uint8_t> bytes, const std::vector<int64_t>& shape) {
  auto half = torch::empty(shape, torch::kHalf);
  std::memcpy(half.data_ptr(), bytes.data(), bytes.size());
  return half.to(torch::kFloat);
}

}  // namespace

Manifest ManifestOf(const NamedTensors& tensors, Precision precision) {
  Manifest manifest;
  uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    const std::string kind = KindOf(tensor, precision);
    const uint64_t bytes = static_cast<uint64_t>(tensor.numel()) * SizeOf(kind);
    manifest.push_back({name, kind, tensor.sizes().vec(), offset, bytes});
    offset += bytes;
  }
  return manifest;
}

Content::Content(const NamedTensors& tensors, const Manifest& manifest) {
  for (const auto& span : manifest) {
    const at::Tensor& tensor = tensors.at(span.name);
    Add(span.kind == "F16" ? AsHalf(tensor) : tensor);
    Check(size_ == span.offset + span.bytes,
          "tensors that do not fit their manifest: " + span.name);
  }
}

Content::Content(const at::Tensor& rows, Precision precision) {
  if (rows.defined()) Add(precision == Precision::kHalf ? AsHalf(rows) : rows.contiguous());
}

void Content::Add(const at::Tensor& tensor) {
  parts_.push_back({size_, tensor});
  size_ += BytesIn(tensor).size();
}

void Content::Read(uint64_t offset, std::span<uint8_t> into) const {
  Check(offset <= size_ && into.size() <= size_ - offset, "bytes that are not there");
  auto part = std::upper_bound(parts_.begin(), parts_.end(), offset,
                               [](uint64_t at, const Part& each) { return at < each.offset; });
  while (!into.empty()) {
    const auto content = BytesIn(std::prev(part)->tensor).subspan(offset - std::prev(part)->offset);
    const size_t size = std::min(content.size(), into.size());
    std::memcpy(into.data(), content.data(), size);
    into = into.subspan(size);
    offset += size;
    ++part;
  }
}

std::string Content::Digest() const {
  kindred::Digest digest;
  for (const auto& part : parts_) digest.Add(BytesIn(part.tensor));
  return digest.Hex();
}

Bytes Pack(const NamedTensors& tensors, const Manifest& manifest) {
  const Content content(tensors, manifest);
  Bytes bytes(content.size());
  content.Read(0, bytes);
  return bytes;
}

NamedTensors Unpack(std::span<uint8_t> bytes, const Manifest& manifest) {
  Check(bytes.size() == BytesOf(manifest), "bytes that do not fit their manifest");
  Check(reinterpret_cast<uintptr_t>(bytes.data()) % alignof(float) == 0, "floats out of line");
  NamedTensors tensors;
  for (const auto& span : manifest) {
    const auto content = bytes.subspan(span.offset, span.bytes);
    if (span.kind == "F32" && span.offset % alignof(float) == 0) {
      tensors.emplace(span.name, torch::from_blob(content.data(), span.shape, torch::kFloat));
    } else if (span.kind == "F16") {
      tensors.emplace(span.name, FromHalf(content, span.shape));
    } else {
      // Behind an odd number of 16-bit floats others lie out of line, too.
      auto tensor = torch::empty(span.shape, span.kind == "F32" ? torch::kFloat : torch::kInt64);
      std::memcpy(tensor.data_ptr(), content.data(), content.size());
      tensors.emplace(span.name, tensor);
    }
  }
  return tensors;
}

at::Tensor UnpackRows(std::span<const uint8_t> bytes, int64_t rows, int64_t width,
                      Precision precision) {
  Check(bytes.size() ==
            BytesOfRows(static_cast<uint64_t>(rows), static_cast<uint64_t>(width), precision),
        "rows that do not fit their bytes");
  if (precision == Precision::kHalf) {
    // Rounded rows are of length 1 only roughly: made so again.
    const auto wide = FromHalf(bytes, {rows, width});
    return wide / wide.norm(2, 1, true).clamp_min(1e-6);
  }
  auto result = torch::empty({rows, width});
  std::memcpy(result.data_ptr(), bytes.data(), bytes.size());
  return result;
}

std::string DigestOfBytes(std::span<const uint8_t> bytes) { return Digest().Add(bytes).Hex(); }

}  // namespace kindred

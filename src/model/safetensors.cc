#include "model/safetensors.h"

#include <torch/torch.h>

#include <cstring>

#include "base/error.h"

namespace kindred {

void AddEntries(std::vector<TensorEntry>& entries, const std::string& prefix,
                const NamedTensors& tensors) {
  for (const auto& [name, tensor] : tensors) {
    Check(tensor.is_contiguous() && tensor.device().is_cpu(), "not a resting tensor: " + name);
    const bool integer = tensor.scalar_type() == torch::kInt64;
    Check(integer || tensor.scalar_type() == torch::kFloat32, "neither F32 nor I64: " + name);
    entries.push_back({prefix + name, integer, tensor.sizes().vec(), tensor.nbytes()});
  }
}

std::span<const uint8_t> BytesIn(const at::Tensor& tensor) {
  return {static_cast<const uint8_t*>(tensor.data_ptr()), tensor.nbytes()};
}

Bytes SerializeSafetensors(const Safetensors& content) {
  std::vector<TensorEntry> entries;
  AddEntries(entries, "", content.tensors);
  Bytes bytes = SafetensorsHeader(entries, content.metadata);
  for (const auto& [name, tensor] : content.tensors) {
    const auto part = BytesIn(tensor);
    bytes.insert(bytes.end(), part.begin(), part.end());
  }
  return bytes;
}

Safetensors ParseSafetensors(std::span<const uint8_t> bytes, const std::string& name) {
  SafetensorsLayout layout = ParseSafetensorsLayout(bytes, name);
  Safetensors result{.metadata = std::move(layout.metadata)};
  auto content = bytes.subspan(layout.start);
  for (const TensorEntry& entry : layout.entries) {
    auto tensor = torch::empty(entry.shape, entry.integer ? torch::kInt64 : torch::kFloat32);
    if (entry.bytes > 0) std::memcpy(tensor.data_ptr(), content.data(), entry.bytes);
    content = content.subspan(entry.bytes);
    result.tensors.emplace(entry.name, std::move(tensor));
  }
  return result;
}

}  // namespace kindred

#include "model/named_tensors.h"

#include <torch/torch.h>

#include "base/digest.h"
#include "base/error.h"

namespace kindred {

NamedTensors Clone(const NamedTensors& tensors) {
  NamedTensors copy;
  for (const auto& [name, tensor] : tensors) copy.emplace(name, tensor.detach().clone());
  return copy;
}

void AddUnder(NamedTensors& tensors, const std::string& prefix, const NamedTensors& more) {
  for (const auto& [name, tensor] : more) {
    const bool added = tensors.emplace(prefix + "/" + name, tensor).second;
    Check(added, "a tensor is there twice: " + prefix + "/" + name);
  }
}

NamedTensors Under(const NamedTensors& tensors, const std::string& prefix) {
  NamedTensors found;
  const std::string start = prefix + "/";
  for (auto at = tensors.lower_bound(start); at != tensors.end(); ++at) {
    if (!at->first.starts_with(start)) break;
    found.emplace(at->first.substr(start.size()), at->second);
  }
  return found;
}

uint64_t BytesOf(const NamedTensors& tensors) {
  uint64_t bytes = 0;
  for (const auto& [name, tensor] : tensors) bytes += BytesOf(tensor);
  return bytes;
}

uint64_t BytesOf(const at::Tensor& tensor) { return tensor.defined() ? tensor.nbytes() : 0; }

std::string DigestOf(const NamedTensors& tensors) {
  Digest digest;
  digest.Add(std::string_view("kindred tensors 1"));
  for (const auto& [name, tensor] : tensors) {
    Check(tensor.is_contiguous() && tensor.device().is_cpu(), "not a resting tensor: " + name);
    digest.Add(std::string_view(name));
    digest.Add(std::string_view(tensor.scalar_type() == torch::kInt64 ? "I64" : "F32"));
    digest.Add(tensor.dim());
    for (const int64_t size : tensor.sizes()) digest.Add(size);
    digest.Add(std::span(static_cast<const uint8_t*>(tensor.data_ptr()), tensor.nbytes()));
  }
  return digest.Hex();
}

bool AllFinite(const NamedTensors& tensors) {
  for (const auto& [name, tensor] : tensors) {
    // A sum of finite floats in double is finite; a NaN or an infinity stays one.
    if (tensor.is_floating_point() && !std::isfinite(tensor.sum(torch::kDouble).item<double>())) {
      return false;
    }
  }
  return true;
}

}  // namespace kindred

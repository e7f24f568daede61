#include "aggregate/kept_models.h"

#include <torch/torch.h>

#include <algorithm>

#include "base/error.h"
#include "base/vectorize.h"
#include "model/safetensors.h"

namespace kindred {
namespace {

constexpr size_t kPlaces = 256;  // sorted at a time

bool IsCounter(const at::Tensor& tensor) { return tensor.scalar_type() == torch::kInt64; }

// Sorts each column of values [count, width] by odd-even transposition: the same comparisons
// whatever the values, so whole rows go through the vector units.
KINDRED_VECTORIZE void SortColumns(float* values, size_t count, size_t width) {
  for (size_t pass = 0; pass < count; ++pass) {
    for (size_t r = pass % 2; r + 1 < count; r += 2) {
      float* low = values + r * width;
      float* high = low + width;
      for (size_t i = 0; i < width; ++i) {
        const float a = low[i], b = high[i];
        low[i] = b < a ? b : a;
        high[i] = b < a ? a : b;
      }
    }
  }
}

}  // namespace

void KeptModels::Add(int client, NamedTensors model, int64_t) {
  if (!models_.empty()) {
    const NamedTensors& first = models_.begin()->second;
    Check(model.size() == first.size(), "models of a round have different tensors");
    for (const auto& [name, tensor] : model) {
      const auto same = first.find(name);
      Check(same != first.end() && same->second.sizes() == tensor.sizes() &&
                same->second.scalar_type() == tensor.scalar_type(),
            "models of a round differ in " + name);
    }
  }
  // A copy: what arrives over a network lives in the bytes of an upload, which are about to go.
  const bool added = models_.emplace(client, Clone(model)).second;
  Check(added, "a client is added twice");
}

Bytes KeptModels::Part() const {
  Safetensors part;
  for (const auto& [client, model] : models_) {
    AddUnder(part.tensors, std::to_string(client), model);
    part.metadata.emplace(std::to_string(client), "");
  }
  return SerializeSafetensors(part);
}

void KeptModels::Merge(const Bytes& bytes) {
  const Safetensors part = ParseSafetensors(bytes, "models of a round");
  for (const auto& [client, nothing] : part.metadata) {
    Add(std::stoi(client), Under(part.tensors, client), 1);
  }
}

const ModelsByClient& KeptModels::Models() const {
  Check(!models_.empty(), "a rule without a model");
  return models_;
}

NamedTensors ValueByValue(
    const ModelsByClient& models,
    const std::function<void(const SortedValues& sorted, std::span<float> out)>& combine) {
  NamedTensors result;
  std::vector<float> values(models.size() * kPlaces);
  for (const auto& [name, first] : models.begin()->second) {
    if (IsCounter(first)) continue;
    auto tensor = torch::empty(first.sizes());
    std::vector<const float*> sources;
    for (const auto& [client, model] : models) {
      Check(model.at(name).is_contiguous(), "not a resting tensor: " + name);
      sources.push_back(model.at(name).data_ptr<float>());
    }
    const auto size = static_cast<size_t>(first.numel());
    for (size_t start = 0; start < size; start += kPlaces) {
      const size_t width = std::min(kPlaces, size - start);
      for (size_t r = 0; r < sources.size(); ++r) {
        std::copy_n(sources[r] + start, width, values.data() + r * width);
      }
      SortColumns(values.data(), sources.size(), width);
      combine({sources.size(), width, values.data()}, {tensor.data_ptr<float>() + start, width});
    }
    result.emplace(name, std::move(tensor));
  }
  return WithLargestCounters(models, std::move(result));
}

NamedTensors WithLargestCounters(const ModelsByClient& models, NamedTensors floats) {
  for (const auto& [name, first] : models.begin()->second) {
    if (!IsCounter(first)) continue;
    at::Tensor most = first.clone();
    for (const auto& [client, model] : models) most = torch::maximum(most, model.at(name));
    floats[name] = most;
  }
  return floats;
}

}  // namespace kindred

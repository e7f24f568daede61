// Tensors by name: what models, clients and checkpoints are made of when they travel or rest.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>

namespace kindred {

// In the order of names, so that walking it is the same everywhere. Tensors are contiguous, on the
// CPU, float32 or int64.
using NamedTensors = std::map<std::string, at::Tensor>;

// A copy that shares no memory.
NamedTensors Clone(const NamedTensors& tensors);

// Adds `more` under "prefix/name".
void AddUnder(NamedTensors& tensors, const std::string& prefix, const NamedTensors& more);

// The tensors under "prefix/", without it.
NamedTensors Under(const NamedTensors& tensors, const std::string& prefix);

uint64_t BytesOf(const NamedTensors& tensors);
uint64_t BytesOf(const at::Tensor& tensor);  // 0 when it is undefined

// BLAKE2b over names, kinds, shapes and bytes.
std::string DigestOf(const NamedTensors& tensors);

// False when a float is NaN or infinite.
bool AllFinite(const NamedTensors& tensors);

}  // namespace kindred

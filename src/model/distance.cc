#include "model/distance.h"

#include <torch/torch.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "base/error.h"
#include "base/vectorize.h"

namespace kindred {
namespace {

constexpr size_t kLanes = 8, kBlock = 4096;
constexpr uint32_t kLimit = std::bit_cast<uint32_t>(0x1p20f);

// Adds to the lanes and gives the largest |a| as bits, which order like the values; a NaN's are
// above all.
KINDRED_VECTORIZE uint32_t AddBlock(const float* a, const float* b, size_t size, double* lanes) {
  uint32_t most[kLanes] = {};
  double sums[kLanes] = {};
  const size_t whole = size / kLanes * kLanes;
  for (size_t i = 0; i < whole; i += kLanes) {
    for (size_t l = 0; l < kLanes; ++l) {
      const uint32_t bits = std::bit_cast<uint32_t>(a[i + l]) & 0x7fffffffu;
      most[l] = bits > most[l] ? bits : most[l];
      const double d = static_cast<double>(a[i + l]) - static_cast<double>(b[i + l]);
      sums[l] += d * d;
    }
  }
  for (size_t l = 0; whole + l < size; ++l) {
    const uint32_t bits = std::bit_cast<uint32_t>(a[whole + l]) & 0x7fffffffu;
    most[l] = bits > most[l] ? bits : most[l];
    const double d = static_cast<double>(a[whole + l]) - static_cast<double>(b[whole + l]);
    sums[l] += d * d;
  }
  uint32_t largest = 0;
  for (size_t l = 0; l < kLanes; ++l) {
    lanes[l] += sums[l];
    largest = std::max(largest, most[l]);
  }
  return largest;
}

}  // namespace

ValuesSeen CompareValues(const float* a, const float* b, size_t size) {
  static const std::vector<float> zeros(kBlock, 0.0f);
  double lanes[kLanes] = {};
  ValuesSeen seen;
  for (size_t start = 0; start < size; start += kBlock) {
    const uint32_t most = AddBlock(a + start, b == nullptr ? zeros.data() : b + start,
                                   std::min(kBlock, size - start), lanes);
    seen.in_range &= most < kLimit;
  }
  for (const double lane : lanes) seen.squared += lane;
  return seen;
}

double SquaredDistance(const NamedTensors& a, const NamedTensors& b) {
  double squared = 0;
  for (const auto& [name, tensor] : a) {
    if (tensor.scalar_type() != torch::kFloat) continue;
    const at::Tensor& other = b.at(name);
    Check(tensor.is_contiguous() && other.is_contiguous() && tensor.numel() == other.numel(),
          "not tensors to compare: " + name);
    squared += CompareValues(tensor.data_ptr<float>(), other.data_ptr<float>(),
                             static_cast<size_t>(tensor.numel()))
                   .squared;
  }
  return squared;
}

double NormOf(const NamedTensors& tensors) {
  double squared = 0;
  for (const auto& [name, tensor] : tensors) {
    if (tensor.scalar_type() != torch::kFloat) continue;
    Check(tensor.is_contiguous(), "not a resting tensor: " + name);
    squared += CompareValues(tensor.data_ptr<float>(), nullptr, static_cast<size_t>(tensor.numel()))
                   .squared;
  }
  return std::sqrt(squared);
}

}  // namespace kindred

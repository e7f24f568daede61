#include "aggregate/weighted_mean.h"

#include <torch/torch.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/error.h"

namespace kindred {
namespace {

constexpr int kFraction = 80;                      // bits below the point
constexpr int64_t kMostWeight = int64_t{1} << 26;  // with 2^20 and the fraction: 126 bits

// The float as a multiple of 2^-80, exact from 2^-57 up, else cut towards zero. |value| < 2^20.
__int128 ToFixed(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const int exponent = static_cast<int>(bits >> 23 & 0xff);
  __int128 mantissa = static_cast<__int128>(bits & 0x7fffff) | (exponent > 0 ? 0x800000 : 0);
  const int shift = std::max(exponent, 1) - 150 + kFraction;
  mantissa = shift >= 0 ? mantissa << shift : (shift > -32 ? mantissa >> -shift : 0);
  return bits >> 31 ? -mantissa : mantissa;
}

// sum / weight x 2^-80, rounded to nearest when it becomes a float.
float ToMean(__int128 sum, int64_t weight) {
  const bool negative = sum < 0;
  unsigned __int128 quotient =
      static_cast<unsigned __int128>(negative ? -sum : sum) / static_cast<uint64_t>(weight);
  // 128 bits to double rounds to nearest; a sticky last bit keeps the second rounding right.
  int scale = -kFraction;
  while (quotient >> 62) {
    quotient = quotient >> 1 | (quotient & 1);
    ++scale;
  }
  const double value = std::ldexp(static_cast<double>(static_cast<uint64_t>(quotient)), scale);
  return static_cast<float>(negative ? -value : value);
}

}  // namespace

void WeightedMean::Add(const NamedTensors& model, int64_t weight) {
  Check(weight > 0 && weight_ + weight < kMostWeight, "weights of a mean leave their range");
  weight_ += weight;
  for (const auto& [name, tensor] : model) {
    Sum& sum = sums_[name];
    const auto size = static_cast<size_t>(tensor.numel());
    if (sum.shape.empty()) sum.shape = tensor.sizes().vec();
    Check(tensor.is_contiguous(), "not a resting tensor: " + name);
    if (tensor.scalar_type() == torch::kInt64) {
      const int64_t* data = tensor.data_ptr<int64_t>();
      if (sum.most.empty()) sum.most.assign(data, data + size);
      for (size_t i = 0; i < size; ++i) sum.most[i] = std::max(sum.most[i], data[i]);
      continue;
    }
    if (sum.floats.empty()) sum.floats.resize(size);
    Check(sum.floats.size() == size, "models of a mean differ in " + name);
    const float* data = tensor.data_ptr<float>();
    for (size_t i = 0; i < size; ++i) {
      if (!(std::abs(data[i]) < 0x1p20f)) {
        throw UsageError("{} holds {}: training has diverged; lower train.lr", name, data[i]);
      }
      sum.floats[i] += ToFixed(data[i]) * weight;
    }
  }
}

void WeightedMean::Merge(const WeightedMean& other) {
  Check(weight_ + other.weight_ < kMostWeight, "weights of a mean leave their range");
  if (weight_ == 0) {
    *this = other;
    return;
  }
  weight_ += other.weight_;
  for (auto& [name, sum] : sums_) {
    const Sum& more = other.sums_.at(name);
    for (size_t i = 0; i < sum.floats.size(); ++i) sum.floats[i] += more.floats[i];
    for (size_t i = 0; i < sum.most.size(); ++i) sum.most[i] = std::max(sum.most[i], more.most[i]);
  }
}

NamedTensors WeightedMean::Take() const {
  Check(weight_ > 0, "the mean of nothing");
  NamedTensors mean;
  for (const auto& [name, sum] : sums_) {
    if (!sum.most.empty()) {
      mean.emplace(name, torch::tensor(sum.most, torch::kInt64).view(sum.shape));
      continue;
    }
    auto tensor = torch::empty(sum.shape);
    float* data = tensor.data_ptr<float>();
    for (size_t i = 0; i < sum.floats.size(); ++i) data[i] = ToMean(sum.floats[i], weight_);
    mean.emplace(name, std::move(tensor));
  }
  return mean;
}

}  // namespace kindred

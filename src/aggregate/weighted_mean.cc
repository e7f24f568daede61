#include "aggregate/weighted_mean.h"

#include <torch/torch.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace kindred {
namespace {

constexpr int kFraction = 80;  // bits below the point; with 2^20 and kMostWeight: 126 bits

// The float as a multiple of 2^-80, exact from 2^-57 up, else cut towards zero. |value| < 2^20.
__int128 ToFixed(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const int exponent = static_cast<int>(bits >> 23 & 0xff);
  __int128 mantissa = static_cast<__int128>(bits & 0x7fffff) | (exponent > 0 ? 0x800000 : 0);
  const int shift = std::max(exponent, 1) - 150 + kFraction;
  mantissa = shift >= 0 ? mantissa << shift : (shift > -32 ? mantissa >> -shift : 0);
  return bits >> 31 ? -mantissa : mantissa;
}

// ToFixed(value) x weight. A float whose bits all count is multiplied before it is shifted: in 64
// bits, the same whole number.
inline __int128 ToWeighted(float value, int64_t weight) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const int exponent = static_cast<int>(bits >> 23 & 0xff);
  const int shift = exponent - 150 + kFraction;
  if (shift < 0 || exponent == 0) [[unlikely]]
    return ToFixed(value) * weight;
  const int64_t product = static_cast<int64_t>((bits & 0x7fffff) | 0x800000) * weight;
  return static_cast<__int128>(bits >> 31 ? -product : product) << shift;
}

// sum / weight x 2^-80, rounded to nearest once: bits beyond a double's 53 only leave a mark in the
// last.
float ToMean(__int128 sum, int64_t weight) {
  using Wide = unsigned __int128;
  const bool negative = sum < 0;
  const Wide size = static_cast<Wide>(negative ? -sum : sum), divisor = static_cast<Wide>(weight);
  Wide quotient = size / divisor;
  bool rest = size % divisor != 0;
  int scale = -kFraction;
  for (; quotient >> 53; ++scale) {
    rest |= (quotient & 1) != 0;
    quotient >>= 1;
  }
  const uint64_t marked = static_cast<uint64_t>(quotient) | (rest ? 1 : 0);
  const double value = std::ldexp(static_cast<double>(marked), scale);
  return static_cast<float>(negative ? -value : value);
}

// Throws unless the model can be added to the sums.
void CheckAddable(const NamedTensors& model) {
  for (const auto& [name, tensor] : model) {
    Check(tensor.is_contiguous(), "not a resting tensor: " + name);
    if (tensor.scalar_type() == torch::kInt64) continue;
    const float* data = tensor.data_ptr<float>();
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      if (!(std::abs(data[i]) < 0x1p20f)) {
        throw UsageError("{} holds {}: training has diverged; start again with a lower train.lr",
                         name, data[i]);
      }
    }
  }
}

}  // namespace

void WeightedMean::Add(const NamedTensors& model, int64_t weight) {
  Check(weight > 0 && weight_ + weight < kMostWeight, "weights of a mean leave their range");
  CheckAddable(model);  // all of it before any of it
  Check(weight_ == 0 || model.size() == sums_.size(), "models of a mean have different tensors");
  for (const auto& [name, tensor] : model) {
    const auto size = static_cast<size_t>(tensor.numel());
    Sum& sum = sums_[name];
    if (weight_ == 0) {
      sum.shape = tensor.sizes().vec();
      sum.counter = tensor.scalar_type() == torch::kInt64;
      if (sum.counter) sum.most.assign(size, std::numeric_limits<int64_t>::min());
      if (!sum.counter) sum.floats.assign(size, 0);
    }
    Check(
        sum.shape == tensor.sizes().vec() && sum.counter == (tensor.scalar_type() == torch::kInt64),
        "models of a mean differ in " + name);
    if (sum.counter) {
      const int64_t* data = tensor.data_ptr<int64_t>();
      for (size_t i = 0; i < size; ++i) sum.most[i] = std::max(sum.most[i], data[i]);
    } else {
      const float* data = tensor.data_ptr<float>();
      for (size_t i = 0; i < size; ++i) sum.floats[i] += ToWeighted(data[i], weight);
    }
  }
  weight_ += weight;
}

void WeightedMean::Merge(const WeightedMean& other) {
  Check(weight_ + other.weight_ < kMostWeight, "weights of a mean leave their range");
  if (other.weight_ == 0) return;
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
    if (sum.counter) {
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

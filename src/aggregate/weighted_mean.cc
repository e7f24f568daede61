#include "aggregate/weighted_mean.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "model/distance.h"
#include "model/safetensors.h"

namespace kindred {
namespace {

// sum / weight x 2^-80, rounded to nearest once: bits beyond a double's 53 only leave a mark in the
// last.
float ToMean(__int128 sum, int64_t weight) {
  using Wide = unsigned __int128;
  const bool negative = sum < 0;
  const Wide size = static_cast<Wide>(negative ? -sum : sum), divisor = static_cast<Wide>(weight);
  Wide quotient = size / divisor;
  bool rest = size % divisor != 0;
  int scale = -WideSums::kFraction;
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
    const std::span values(tensor.data_ptr<float>(), static_cast<size_t>(tensor.numel()));
    if (CompareValues(values.data(), nullptr, values.size()).in_range) continue;
    throw UsageError("{} holds {}: training has diverged; start again with a lower train.lr", name,
                     *std::find_if(values.begin(), values.end(),
                                   [](float value) { return !(std::abs(value) < 0x1p20f); }));
  }
}

}  // namespace

// Sums of nothing, in these shapes.
void WeightedMean::Begin(const NamedTensors& like) {
  sums_.clear();
  for (const auto& [name, tensor] : like) {
    const auto size = static_cast<size_t>(tensor.numel());
    Sum& sum = sums_[name];
    sum.shape = tensor.sizes().vec();
    sum.counter = tensor.scalar_type() == torch::kInt64;
    if (sum.counter) sum.most.assign(size, std::numeric_limits<int64_t>::min());
    if (!sum.counter) sum.floats = WideSums(size);
  }
}

void WeightedMean::Add(const NamedTensors& model, int64_t weight) {
  Check(weight > 0 && weight_ + weight < kMostWeight, "weights of a mean leave their range");
  CheckAddable(model);  // all of it before any of it
  Check(weight_ == 0 || model.size() == sums_.size(), "models of a mean have different tensors");
  if (weight_ == 0) Begin(model);
  for (const auto& [name, tensor] : model) {
    const auto size = static_cast<size_t>(tensor.numel());
    Check(sums_.contains(name), "models of a mean differ in " + name);
    Sum& sum = sums_.at(name);
    Check(
        sum.shape == tensor.sizes().vec() && sum.counter == (tensor.scalar_type() == torch::kInt64),
        "models of a mean differ in " + name);
    if (sum.counter) {
      const int64_t* data = tensor.data_ptr<int64_t>();
      for (size_t i = 0; i < size; ++i) sum.most[i] = std::max(sum.most[i], data[i]);
    } else {
      sum.floats.Add(std::span(tensor.data_ptr<float>(), size), static_cast<uint32_t>(weight));
    }
  }
  weight_ += weight;
}

// Of a float tensor the sums' halves, of a counter the largest.
Bytes WeightedMean::Part() const {
  Safetensors part = {.tensors = {}, .metadata = {{"weight", std::to_string(weight_)}}};
  for (const auto& [name, sum] : sums_) {
    if (sum.counter) {
      part.tensors["most/" + name] = torch::tensor(sum.most, torch::kInt64).view(sum.shape);
      continue;
    }
    for (const auto& [half, values] :
         {std::pair("low/", sum.floats.Low()), std::pair("high/", sum.floats.High())}) {
      part.tensors[half + name] =
          torch::from_blob(const_cast<uint64_t*>(values.data()), sum.shape, torch::kInt64);
    }
  }
  return SerializeSafetensors(part);
}

void WeightedMean::Merge(const Bytes& bytes) {
  const Safetensors part = ParseSafetensors(bytes, "a part of a mean");
  const int64_t weight = std::stoll(part.metadata.at("weight"));
  if (weight == 0) return;
  Check(weight_ + weight < kMostWeight, "weights of a mean leave their range");
  const NamedTensors low = Under(part.tensors, "low"), most = Under(part.tensors, "most");
  if (weight_ == 0) {
    NamedTensors like = most;
    for (const auto& [name, tensor] : low) like[name] = torch::empty(tensor.sizes());
    Begin(like);
  }
  Check(low.size() + most.size() == sums_.size(), "models of a mean have different tensors");
  const auto halves = [](const at::Tensor& tensor) {
    return std::span(static_cast<const uint64_t*>(tensor.data_ptr()),
                     static_cast<size_t>(tensor.numel()));
  };
  for (const auto& [name, tensor] : low) {
    sums_.at(name).floats.Add(halves(tensor), halves(part.tensors.at("high/" + name)));
  }
  for (const auto& [name, tensor] : most) {
    const int64_t* values = tensor.data_ptr<int64_t>();
    auto& own = sums_.at(name).most;
    for (size_t i = 0; i < own.size(); ++i) own[i] = std::max(own[i], values[i]);
  }
  weight_ += weight;
}

NamedTensors WeightedMean::Finish() const {
  Check(weight_ > 0, "the mean of nothing");
  NamedTensors mean;
  for (const auto& [name, sum] : sums_) {
    if (sum.counter) {
      mean.emplace(name, torch::tensor(sum.most, torch::kInt64).view(sum.shape));
      continue;
    }
    auto tensor = torch::empty(sum.shape);
    float* data = tensor.data_ptr<float>();
    for (size_t i = 0; i < sum.floats.size(); ++i) data[i] = ToMean(sum.floats.At(i), weight_);
    mean.emplace(name, std::move(tensor));
  }
  return mean;
}

}  // namespace kindred

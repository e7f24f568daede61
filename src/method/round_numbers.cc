#include "method/round_numbers.h"

#include <torch/torch.h>

#include "model/feature_spread.h"

namespace kindred {
namespace {

constexpr int64_t kRows = 512;  // enough for an effective rank of 128

}  // namespace

void AddSpread(Metrics& metrics, const at::Tensor& rows) {
  const FeatureSpread spread = SpreadOf(rows);
  metrics["feature_cosine"] = spread.cosine;
  metrics["feature_std"] = spread.std;
  metrics["feature_rank"] = spread.rank;
}

void RoundNumbers::Count(const std::string& name, double value) {
  sums_[name].total += value;
  ++sums_[name].steps;
}

void RoundNumbers::Saw(const at::Tensor& features) {
  seen_.push_back(features.detach().clone());
  rows_ += features.size(0);
  while (rows_ - seen_.front().size(0) >= kRows) {
    rows_ -= seen_.front().size(0);
    seen_.erase(seen_.begin());
  }
}

Metrics RoundNumbers::End() {
  Metrics metrics;
  for (const auto& [name, sum] : sums_) metrics[name] = sum.total / sum.steps;
  if (!seen_.empty()) AddSpread(metrics, torch::cat(seen_));
  Begin();
  return metrics;
}

}  // namespace kindred

// Batch norm, then perhaps a residual added, then ReLU, in one pass each way; channels last.
//
//   z = max(0, gamma (x - mean) / sqrt(var + eps) + beta + r)
//
// In training a batch is normalised in groups, sample b in group b mod `groups` (split batch norm).
// Sums are made sample by sample and added in their order: nothing depends on threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kindred {

struct NormShape {
  int64_t batch = 1;
  int64_t area = 1;  // height x width
  int64_t channels = 1;
  int64_t groups = 1;  // divides batch
};

inline constexpr double kNormEpsilon = 1e-5;

// Mean, biased variance and 1 / sqrt(var + eps) of each group: [groups, channels].
struct NormStatistics {
  std::vector<float> mean, variance, scale;
};

// What a layer has learned: [channels] each.
struct NormWeights {
  std::span<const float> gamma, beta;
};

// Of x: [batch, area, channels]. The memory of `statistics` is reused.
void NormStatisticsOf(const NormShape& shape, std::span<const float> x, NormStatistics& statistics);

// The same from running statistics, for evaluation (groups = 1).
void NormStatisticsFrom(std::span<const float> mean, std::span<const float> variance,
                        NormStatistics& statistics);

// z from x; residual may be empty, relu may be left out. z may be x's own memory.
void NormForward(const NormShape& shape, std::span<const float> x, const NormStatistics& statistics,
                 const NormWeights& weights, std::span<const float> residual, bool relu,
                 std::span<float> z);

// From dz, the gradient to z: dx, and [channels] dgamma and dbeta, overwritten. relu: dz is first
// set to zero, in place, where z is not positive; it is then the gradient to the residual. dx may
// be dz's memory where no residual needs it.
void NormBackward(const NormShape& shape, std::span<const float> x, std::span<const float> z,
                  const NormStatistics& statistics, const NormWeights& weights, bool relu,
                  std::span<float> dz, std::span<float> dx, std::span<float> dgamma,
                  std::span<float> dbeta);

}  // namespace kindred

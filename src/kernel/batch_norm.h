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
  bool fixed = false;  // not of the batch: no gradient flows through them
};

// What a layer has learned: [channels] each.
struct NormWeights {
  std::span<const float> gamma, beta;
};

// Of x: [batch, area, channels]. The memory of `statistics` is reused.
void NormStatisticsOf(const NormShape& shape, std::span<const float> x, NormStatistics& statistics,
                      int workers = 1);

// The same from running statistics, for evaluation (groups = 1).
void NormStatisticsFrom(std::span<const float> mean, std::span<const float> variance,
                        NormStatistics& statistics);

// What follows the norm.
struct NormThen {
  std::span<const float> residual = {};  // r; empty: none
  bool relu = true;
};

// z from x. z may be x's own memory.
void NormForward(const NormShape& shape, std::span<const float> x, const NormStatistics& statistics,
                 const NormWeights& weights, const NormThen& then, std::span<float> z,
                 int workers = 1);

// Where the gradients go: dx like x, dgamma and dbeta [channels]; all overwritten.
struct NormGradients {
  std::span<float> dx, dgamma, dbeta;
};

// From dz, the gradient to z. With a residual and ReLU, z tells where ReLU was off: dz becomes zero
// there, in place, and is then the gradient to the residual. Without a residual z is not read (it
// follows from x), and dx may be dz's memory.
void NormBackward(const NormShape& shape, std::span<const float> x, std::span<const float> z,
                  const NormStatistics& statistics, const NormWeights& weights,
                  const NormThen& then, std::span<float> dz, const NormGradients& gradients,
                  int workers = 1);

}  // namespace kindred

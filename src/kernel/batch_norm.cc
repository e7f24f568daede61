#include "kernel/batch_norm.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/vectorize.h"

namespace kindred {
namespace {

// sum[c] += x[p][c] over the rows of a sample.
KINDRED_VECTORIZE void AddRows(const float* x, int64_t rows, int64_t channels, float* sum) {
  for (int64_t p = 0; p < rows; ++p) {
    for (int64_t c = 0; c < channels; ++c) sum[c] += x[p * channels + c];
  }
}

// sum[c] += (x[p][c] - mean[c])^2.
KINDRED_VECTORIZE void AddSquares(const float* x, const float* mean, int64_t rows, int64_t channels,
                                  float* sum) {
  for (int64_t p = 0; p < rows; ++p) {
    for (int64_t c = 0; c < channels; ++c) {
      const float d = x[p * channels + c] - mean[c];
      sum[c] += d * d;
    }
  }
}

// z = x a + b (+ r), and ReLU.
KINDRED_VECTORIZE void Apply(const float* x, const float* a, const float* b, const float* r,
                             bool relu, int64_t rows, int64_t channels, float* z) {
  const float least = relu ? 0.0f : -INFINITY;
  for (int64_t p = 0; p < rows; ++p, x += channels, z += channels) {
    if (r != nullptr) {
      for (int64_t c = 0; c < channels; ++c) z[c] = std::max(least, x[c] * a[c] + b[c] + r[c]);
      r += channels;
    } else {
      for (int64_t c = 0; c < channels; ++c) z[c] = std::max(least, x[c] * a[c] + b[c]);
    }
  }
}

// Masks dz by z > 0, and sums dz and dz (x - mean).
KINDRED_VECTORIZE void MaskAndSum(const float* x, const float* z, const float* mean, bool relu,
                                  int64_t rows, int64_t channels, float* dz, float* sum,
                                  float* product) {
  for (int64_t p = 0; p < rows; ++p, x += channels, z += channels, dz += channels) {
    if (relu) {
      for (int64_t c = 0; c < channels; ++c) dz[c] = z[c] > 0 ? dz[c] : 0.0f;
    }
    for (int64_t c = 0; c < channels; ++c) {
      sum[c] += dz[c];
      product[c] += dz[c] * (x[c] - mean[c]);
    }
  }
}

// dx = a dz - b - (x - mean) e.
KINDRED_VECTORIZE void Gradient(const float* x, const float* dz, const float* mean, const float* a,
                                const float* b, const float* e, int64_t rows, int64_t channels,
                                float* dx) {
  for (int64_t p = 0; p < rows; ++p, x += channels, dz += channels, dx += channels) {
    for (int64_t c = 0; c < channels; ++c) dx[c] = dz[c] * a[c] - b[c] - (x[c] - mean[c]) * e[c];
  }
}

}  // namespace

void NormStatisticsOf(const NormShape& s, std::span<const float> x, NormStatistics& statistics) {
  Check(s.batch % s.groups == 0, "groups that do not divide the batch");
  const auto size = static_cast<size_t>(s.groups * s.channels);
  const auto channels = static_cast<size_t>(s.channels);
  for (auto* values : {&statistics.mean, &statistics.variance, &statistics.scale}) {
    values->resize(size);
  }
  // Means and squares of the samples so far, joined as Chan et al. (1979) do.
  std::vector<double> mean(size, 0.0), squares(size, 0.0);
  std::vector<float> sum(channels), own(channels);
  const auto rows = static_cast<double>(s.area);
  for (int64_t b = 0; b < s.batch; ++b) {
    const float* sample = x.data() + b * s.area * s.channels;
    std::fill(sum.begin(), sum.end(), 0.0f);
    AddRows(sample, s.area, s.channels, sum.data());
    for (size_t c = 0; c < channels; ++c) own[c] = sum[c] / static_cast<float>(s.area);
    std::fill(sum.begin(), sum.end(), 0.0f);
    AddSquares(sample, own.data(), s.area, s.channels, sum.data());
    const size_t first = static_cast<size_t>(b % s.groups) * channels;
    const auto before = static_cast<double>(b / s.groups);  // samples of the group
    for (size_t c = 0; c < channels; ++c) {
      const double step = own[c] - mean[first + c];
      mean[first + c] += step / (before + 1);
      squares[first + c] += sum[c] + step * step * rows * before / (before + 1);
    }
  }
  const double count = rows * static_cast<double>(s.batch / s.groups);
  for (size_t i = 0; i < size; ++i) {
    const double variance = squares[i] / count;
    statistics.mean[i] = static_cast<float>(mean[i]);
    statistics.variance[i] = static_cast<float>(variance);
    statistics.scale[i] = static_cast<float>(1 / std::sqrt(variance + kNormEpsilon));
  }
}

void NormStatisticsFrom(std::span<const float> mean, std::span<const float> variance,
                        NormStatistics& statistics) {
  statistics.mean.assign(mean.begin(), mean.end());
  statistics.variance.assign(variance.begin(), variance.end());
  statistics.scale.resize(variance.size());
  for (size_t c = 0; c < variance.size(); ++c) {
    statistics.scale[c] = static_cast<float>(1 / std::sqrt(double{variance[c]} + kNormEpsilon));
  }
}

void NormForward(const NormShape& s, std::span<const float> x, const NormStatistics& statistics,
                 const NormWeights& weights, std::span<const float> residual, bool relu,
                 std::span<float> z) {
  const auto size = static_cast<size_t>(s.groups * s.channels);
  std::vector<float> a(size), b(size);
  for (size_t i = 0; i < size; ++i) {
    const size_t c = i % static_cast<size_t>(s.channels);
    a[i] = weights.gamma[c] * statistics.scale[i];
    b[i] = weights.beta[c] - statistics.mean[i] * a[i];
  }
  const int64_t sample = s.area * s.channels;
  for (int64_t n = 0; n < s.batch; ++n) {
    const int64_t first = n % s.groups * s.channels;
    Apply(x.data() + n * sample, a.data() + first, b.data() + first,
          residual.empty() ? nullptr : residual.data() + n * sample, relu, s.area, s.channels,
          z.data() + n * sample);
  }
}

void NormBackward(const NormShape& s, std::span<const float> x, std::span<const float> z,
                  const NormStatistics& statistics, const NormWeights& weights, bool relu,
                  std::span<float> dz, std::span<float> dx, std::span<float> dgamma,
                  std::span<float> dbeta) {
  const auto size = static_cast<size_t>(s.groups * s.channels);
  const auto channels = static_cast<size_t>(s.channels);
  const int64_t sample = s.area * s.channels;
  std::vector<double> sums(size, 0.0), products(size, 0.0);
  std::vector<float> sum(channels), product(channels);
  for (int64_t n = 0; n < s.batch; ++n) {
    const size_t first = static_cast<size_t>(n % s.groups) * channels;
    std::fill(sum.begin(), sum.end(), 0.0f);
    std::fill(product.begin(), product.end(), 0.0f);
    MaskAndSum(x.data() + n * sample, z.data() + n * sample, statistics.mean.data() + first, relu,
               s.area, s.channels, dz.data() + n * sample, sum.data(), product.data());
    for (size_t c = 0; c < channels; ++c) {
      sums[first + c] += sum[c];
      products[first + c] += product[c];
    }
  }
  const double count = static_cast<double>(s.area) * static_cast<double>(s.batch / s.groups);
  std::vector<float> a(size), b(size), e(size);
  std::vector<double> gamma(channels, 0.0), beta(channels, 0.0);
  for (size_t i = 0; i < size; ++i) {
    const size_t c = i % channels;
    const double scale = statistics.scale[i], full = weights.gamma[c] * scale;
    gamma[c] += products[i] * scale;
    beta[c] += sums[i];
    a[i] = static_cast<float>(full);
    b[i] = static_cast<float>(full * sums[i] / count);
    e[i] = static_cast<float>(full * scale * scale * products[i] / count);
  }
  for (size_t c = 0; c < channels; ++c) {
    dgamma[c] = static_cast<float>(gamma[c]);
    dbeta[c] = static_cast<float>(beta[c]);
  }
  for (int64_t n = 0; n < s.batch; ++n) {
    const auto first = static_cast<size_t>(n % s.groups) * channels;
    Gradient(x.data() + n * sample, dz.data() + n * sample, statistics.mean.data() + first,
             a.data() + first, b.data() + first, e.data() + first, s.area, s.channels,
             dx.data() + n * sample);
  }
}

}  // namespace kindred

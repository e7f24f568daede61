#include "kernel/batch_norm.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "base/error.h"
#include "base/parallel.h"
#include "base/vectorize.h"
#include "kernel/lanes.h"

namespace kindred {
namespace {

// Loops over the rows of a sample, [rows, channels], eight or sixteen channels at a time: sixteen
// are a cache line, so that memory is read once, with what belongs to the channels in registers.

// kVectors x 8 channels of a row, or of something with one value per channel.
template <int kVectors>
struct Some {
  Lanes lanes[kVectors];

  KINDRED_INLINE static void Load(const float* from, Some& some) {
    for (int v = 0; v < kVectors; ++v) {
      LoadLanes(from + kLanes * v, some.lanes[v]);
    }
  }
  KINDRED_INLINE void Store(float* to) const {
    for (int v = 0; v < kVectors; ++v) StoreLanes(to + kLanes * v, lanes[v]);
  }
};

// One channel, for those that are left.
template <>
struct Some<0> {
  float lanes[1];

  KINDRED_INLINE static void Load(const float* from, Some& some) { some.lanes[0] = *from; }
  KINDRED_INLINE void Store(float* to) const { *to = lanes[0]; }
};

template <int kVectors>
constexpr int kCount = kVectors == 0 ? 1 : kVectors;

// Calls body(constant number of vectors, first channel) for all channels.
template <class Body>
KINDRED_INLINE void EachChannels(int64_t channels, const Body& body) {
  int64_t c = 0;
  for (; c + 16 <= channels; c += 16) body(std::integral_constant<int, 2>(), c);
  for (; c + 8 <= channels; c += 8) body(std::integral_constant<int, 1>(), c);
  for (; c < channels; ++c) body(std::integral_constant<int, 0>(), c);
}

// sum[c] = sum of x[p][c].
KINDRED_VECTORIZE void SumRows(const float* x, int64_t rows, int64_t channels, float* sum) {
  EachChannels(channels, [&](auto vectors, int64_t c) KINDRED_INLINE_LAMBDA {
    constexpr int kVectors = vectors;
    Some<kVectors> total = {}, value;
    for (int64_t p = 0; p < rows; ++p) {
      value.Load(x + p * channels + c, value);
      for (int v = 0; v < kCount<kVectors>; ++v) total.lanes[v] += value.lanes[v];
    }
    total.Store(sum + c);
  });
}

// sum[c] = sum of (x[p][c] - mean[c])^2.
KINDRED_VECTORIZE void SumSquares(const float* x, const float* mean, int64_t rows, int64_t channels,
                                  float* sum) {
  EachChannels(channels, [&](auto vectors, int64_t c) KINDRED_INLINE_LAMBDA {
    constexpr int kVectors = vectors;
    Some<kVectors> total = {}, value, center;
    center.Load(mean + c, center);
    for (int64_t p = 0; p < rows; ++p) {
      value.Load(x + p * channels + c, value);
      for (int v = 0; v < kCount<kVectors>; ++v) {
        const auto d = value.lanes[v] - center.lanes[v];
        total.lanes[v] += d * d;
      }
    }
    total.Store(sum + c);
  });
}

// z = x a + b (+ r), and ReLU, which lets NaN through.
KINDRED_VECTORIZE void Apply(const float* x, const float* a, const float* b, const float* r,
                             bool relu, int64_t rows, int64_t channels, float* z) {
  EachChannels(channels, [&](auto vectors, int64_t c) KINDRED_INLINE_LAMBDA {
    constexpr int kVectors = vectors;
    Some<kVectors> scale, shift, value, residual;
    scale.Load(a + c, scale);
    shift.Load(b + c, shift);
    for (int64_t p = 0; p < rows; ++p) {
      const int64_t at = p * channels + c;
      value.Load(x + at, value);
      for (int v = 0; v < kCount<kVectors>; ++v) {
        value.lanes[v] = value.lanes[v] * scale.lanes[v] + shift.lanes[v];
      }
      if (r != nullptr) {
        residual.Load(r + at, residual);
        for (int v = 0; v < kCount<kVectors>; ++v) value.lanes[v] += residual.lanes[v];
      }
      if (relu) {
        for (int v = 0; v < kCount<kVectors>; ++v) {
          value.lanes[v] = value.lanes[v] < 0 ? decltype(value.lanes[v] + 0){} : value.lanes[v];
        }
      }
      value.Store(z + at);
    }
  });
}

// What a sample's gradient is made of, all [channels]: z = x a + b before ReLU, and
// dx = a g - e - (x - mean) f, g: dz where ReLU was on.
struct Coefficients {
  const float *mean, *a, *b, *e, *f;
};

// Sets dz to zero where z is.
KINDRED_VECTORIZE void Mask(const float* z, int64_t count, float* dz) {
  for (int64_t i = 0; i < count; ++i) dz[i] = z[i] > 0 ? dz[i] : 0.0f;
}

// Sums g and g (x - mean). `relu`: g is dz where x a + b is positive; else it is dz.
KINDRED_VECTORIZE void SumGradients(const float* x, const float* dz, const Coefficients& k,
                                    bool relu, int64_t rows, int64_t channels, float* sum,
                                    float* product) {
  EachChannels(channels, [&](auto vectors, int64_t c) KINDRED_INLINE_LAMBDA {
    constexpr int kVectors = vectors;
    Some<kVectors> mean, a, b, g, value, total = {}, products = {};
    mean.Load(k.mean + c, mean);
    a.Load(k.a + c, a);
    b.Load(k.b + c, b);
    for (int64_t p = 0; p < rows; ++p) {
      const int64_t at = p * channels + c;
      value.Load(x + at, value);
      g.Load(dz + at, g);
      for (int v = 0; v < kCount<kVectors>; ++v) {
        if (relu) {
          g.lanes[v] = value.lanes[v] * a.lanes[v] + b.lanes[v] > 0 ? g.lanes[v]
                                                                    : decltype(g.lanes[v] + 0){};
        }
        total.lanes[v] += g.lanes[v];
        products.lanes[v] += g.lanes[v] * (value.lanes[v] - mean.lanes[v]);
      }
    }
    total.Store(sum + c);
    products.Store(product + c);
  });
}

KINDRED_VECTORIZE void Gradient(const float* x, const float* dz, const Coefficients& k, bool relu,
                                int64_t rows, int64_t channels, float* dx) {
  EachChannels(channels, [&](auto vectors, int64_t c) KINDRED_INLINE_LAMBDA {
    constexpr int kVectors = vectors;
    Some<kVectors> mean, a, b, e, f, g, value;
    mean.Load(k.mean + c, mean);
    a.Load(k.a + c, a);
    b.Load(k.b + c, b);
    e.Load(k.e + c, e);
    f.Load(k.f + c, f);
    for (int64_t p = 0; p < rows; ++p) {
      const int64_t at = p * channels + c;
      value.Load(x + at, value);
      g.Load(dz + at, g);
      for (int v = 0; v < kCount<kVectors>; ++v) {
        if (relu) {
          g.lanes[v] = value.lanes[v] * a.lanes[v] + b.lanes[v] > 0 ? g.lanes[v]
                                                                    : decltype(g.lanes[v] + 0){};
        }
        g.lanes[v] =
            g.lanes[v] * a.lanes[v] - e.lanes[v] - (value.lanes[v] - mean.lanes[v]) * f.lanes[v];
      }
      g.Store(dx + at);
    }
  });
}

// Memory of a call, reused by the next of the thread.
struct NormScratch {
  std::vector<float> first, second;           // [batch, channels]: of each sample
  std::vector<double> first_sum, second_sum;  // [groups, channels]
  std::vector<float> a, b, e, f;              // [groups, channels]
  std::vector<double> gamma, beta;            // [channels]
};
thread_local NormScratch norm_scratch;

size_t Size(int64_t count) { return static_cast<size_t>(count); }

int Threads(const NormShape& s, int workers) {
  return static_cast<int>(std::clamp<int64_t>(workers, 1, s.batch));
}

// z = x a + b of each group.
void Scales(const NormShape& s, const NormStatistics& statistics, const NormWeights& weights,
            NormScratch& scratch) {
  const size_t size = Size(s.groups * s.channels), channels = Size(s.channels);
  scratch.a.resize(size);
  scratch.b.resize(size);
  for (size_t i = 0; i < size; ++i) {
    const size_t c = i % channels;
    scratch.a[i] = weights.gamma[c] * statistics.scale[i];
    scratch.b[i] = weights.beta[c] - statistics.mean[i] * scratch.a[i];
  }
}

}  // namespace

void NormStatisticsOf(const NormShape& s, std::span<const float> x, NormStatistics& statistics,
                      int workers) {
  Check(s.batch % s.groups == 0, "groups that do not divide the batch");
  const size_t size = Size(s.groups * s.channels), channels = Size(s.channels);
  statistics.fixed = false;
  for (auto* values : {&statistics.mean, &statistics.variance, &statistics.scale}) {
    values->resize(size);
  }
  NormScratch& scratch = norm_scratch;
  scratch.first.resize(Size(s.batch) * channels);
  scratch.second.resize(Size(s.batch) * channels);
  const auto rows = static_cast<double>(s.area);
  ParallelFor(Threads(s, workers), static_cast<int>(s.batch), [&](int, int b) {
    const float* sample = x.data() + b * s.area * s.channels;
    float* mean = scratch.first.data() + Size(b) * channels;
    SumRows(sample, s.area, s.channels, mean);
    for (size_t c = 0; c < channels; ++c) mean[c] /= static_cast<float>(s.area);
    SumSquares(sample, mean, s.area, s.channels, scratch.second.data() + Size(b) * channels);
  });
  // Means and squares of the samples so far, joined as Chan et al. (1979) do.
  auto &mean = scratch.first_sum, &squares = scratch.second_sum;
  mean.assign(size, 0.0);
  squares.assign(size, 0.0);
  for (int64_t b = 0; b < s.batch; ++b) {
    const size_t first = Size(b % s.groups) * channels, own = Size(b) * channels;
    const auto before = static_cast<double>(b / s.groups);  // samples of the group
    for (size_t c = 0; c < channels; ++c) {
      const double step = scratch.first[own + c] - mean[first + c];
      mean[first + c] += step / (before + 1);
      squares[first + c] += scratch.second[own + c] + step * step * rows * before / (before + 1);
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
  statistics.fixed = true;
  statistics.mean.assign(mean.begin(), mean.end());
  statistics.variance.assign(variance.begin(), variance.end());
  statistics.scale.resize(variance.size());
  for (size_t c = 0; c < variance.size(); ++c) {
    statistics.scale[c] = static_cast<float>(1 / std::sqrt(double{variance[c]} + kNormEpsilon));
  }
}

void NormForward(const NormShape& s, std::span<const float> x, const NormStatistics& statistics,
                 const NormWeights& weights, const NormThen& then, std::span<float> z,
                 int workers) {
  NormScratch& scratch = norm_scratch;
  Scales(s, statistics, weights, scratch);
  const int64_t sample = s.area * s.channels;
  ParallelFor(Threads(s, workers), static_cast<int>(s.batch), [&](int, int n) {
    const int64_t first = n % s.groups * s.channels;
    Apply(x.data() + n * sample, scratch.a.data() + first, scratch.b.data() + first,
          then.residual.empty() ? nullptr : then.residual.data() + n * sample, then.relu, s.area,
          s.channels, z.data() + n * sample);
  });
}

void NormBackward(const NormShape& s, std::span<const float> x, std::span<const float> z,
                  const NormStatistics& statistics, const NormWeights& weights,
                  const NormThen& then, std::span<float> dz, const NormGradients& gradients,
                  int workers) {
  const size_t size = Size(s.groups * s.channels), channels = Size(s.channels);
  const int64_t sample = s.area * s.channels;
  const bool mask = then.relu && !then.residual.empty(), relu = then.relu && !mask;
  NormScratch& scratch = norm_scratch;
  Scales(s, statistics, weights, scratch);
  scratch.e.resize(size);
  scratch.f.resize(size);
  const auto coefficients = [&](int n) {
    const int64_t first = n % s.groups * s.channels;
    return Coefficients{statistics.mean.data() + first, scratch.a.data() + first,
                        scratch.b.data() + first, scratch.e.data() + first,
                        scratch.f.data() + first};
  };
  scratch.first.resize(Size(s.batch) * channels);
  scratch.second.resize(Size(s.batch) * channels);
  ParallelFor(Threads(s, workers), static_cast<int>(s.batch), [&](int, int n) {
    if (mask) Mask(z.data() + n * sample, sample, dz.data() + n * sample);
    SumGradients(x.data() + n * sample, dz.data() + n * sample, coefficients(n), relu, s.area,
                 s.channels, scratch.first.data() + Size(n) * channels,
                 scratch.second.data() + Size(n) * channels);
  });
  auto &sums = scratch.first_sum, &products = scratch.second_sum;
  sums.assign(size, 0.0);
  products.assign(size, 0.0);
  for (int64_t n = 0; n < s.batch; ++n) {
    const size_t first = Size(n % s.groups) * channels, own = Size(n) * channels;
    for (size_t c = 0; c < channels; ++c) {
      sums[first + c] += scratch.first[own + c];
      products[first + c] += scratch.second[own + c];
    }
  }
  const double count = static_cast<double>(s.area) * static_cast<double>(s.batch / s.groups);
  scratch.gamma.assign(channels, 0.0);
  scratch.beta.assign(channels, 0.0);
  for (size_t i = 0; i < size; ++i) {
    const size_t c = i % channels;
    const double scale = statistics.scale[i], full = weights.gamma[c] * scale;
    scratch.gamma[c] += products[i] * scale;
    scratch.beta[c] += sums[i];
    const double through = statistics.fixed ? 0 : full / count;
    scratch.e[i] = static_cast<float>(through * sums[i]);
    scratch.f[i] = static_cast<float>(through * scale * scale * products[i]);
  }
  for (size_t c = 0; c < channels; ++c) {
    gradients.dgamma[c] = static_cast<float>(scratch.gamma[c]);
    gradients.dbeta[c] = static_cast<float>(scratch.beta[c]);
  }
  ParallelFor(Threads(s, workers), static_cast<int>(s.batch), [&](int, int n) {
    Gradient(x.data() + n * sample, dz.data() + n * sample, coefficients(n), relu, s.area,
             s.channels, gradients.dx.data() + n * sample);
  });
}

}  // namespace kindred

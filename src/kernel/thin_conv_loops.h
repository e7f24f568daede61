// The loops of thin_conv.cc, compiled twice: once for AVX2 and FMA, once for any x86. Each copy is
// in a namespace of its own, KINDRED_THIN; include nowhere else.
#include "kernel/lanes.h"
#include "kernel/thin_conv_rows.h"

namespace kindred::KINDRED_THIN {
namespace {

// Pixels p, ..., p + kPixels - 1 of a row of y, channels c, ..., c + 8 kGroups - 1.
template <int kPixels, int kGroups>
KINDRED_INLINE void Pixels(const ThinRow& row, const float* w, int64_t p, int64_t c, float* y) {
  Lanes sums[kPixels][kGroups] = {};
  const int64_t run = 3 * row.in;
  for (int64_t a = 0; a < 3; ++a) {
    const float* x = row.x + a * row.line + p * row.in;
    const float* weights = w + a * run * row.out + c;
    for (int64_t k = 0; k < run; ++k, weights += row.out) {
      Lanes weight[kGroups];
#pragma GCC unroll 2
      for (int g = 0; g < kGroups; ++g) LoadLanes(weights + g * kLanes, weight[g]);
#pragma GCC unroll 4
      for (int i = 0; i < kPixels; ++i) {
        const float value = x[i * row.in + k];
#pragma GCC unroll 2
        for (int g = 0; g < kGroups; ++g) sums[i][g] += value * weight[g];
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kPixels; ++i) {
#pragma GCC unroll 2
    for (int g = 0; g < kGroups; ++g) {
      StoreLanes(y + (p + i) * row.out + c + g * kLanes, sums[i][g]);
    }
  }
}

// All channels of those pixels: y is written in the order of memory.
template <int kPixels>
KINDRED_INLINE void AllChannels(const ThinRow& row, const float* w, int64_t p, float* y) {
  int64_t c = 0;
  for (; c + 2 * kLanes <= row.out; c += 2 * kLanes) Pixels<kPixels, 2>(row, w, p, c, y);
  if (c < row.out) Pixels<kPixels, 1>(row, w, p, c, y);
}

// Channels c, ..., c + 7 of a row of the window: its 3 kIn sums.
template <int kIn>
KINDRED_INLINE void WeightSums(const ThinRow& row, const float* dy, int64_t a, int64_t c,
                               float* dw) {
  constexpr int kRun = 3 * kIn;
  float* to = dw + a * kRun * row.out + c;
  Lanes sums[kRun];
#pragma GCC unroll 9
  for (int k = 0; k < kRun; ++k) LoadLanes(to + k * row.out, sums[k]);
  const float* x = row.x + a * row.line;
  for (int64_t p = 0; p < row.width; ++p) {
    Lanes gradient;
    LoadLanes(dy + p * row.out + c, gradient);
#pragma GCC unroll 9
    for (int k = 0; k < kRun; ++k) sums[k] += x[p * kIn + k] * gradient;
  }
#pragma GCC unroll 9
  for (int k = 0; k < kRun; ++k) StoreLanes(to + k * row.out, sums[k]);
}

}  // namespace

void ForwardRow(const ThinRow& row, const float* w, float* y) {
  int64_t p = 0;
  for (; p + 4 <= row.width; p += 4) AllChannels<4>(row, w, p, y);
  for (; p < row.width; ++p) AllChannels<1>(row, w, p, y);
}

void WeightRow(const ThinRow& row, const float* dy, float* dw) {
  const int64_t size = row.width * row.out;  // the row after it comes from memory meanwhile
  for (int64_t i = 0; i < size; i += 16) __builtin_prefetch(dy + size + i);
  for (int64_t c = 0; c < row.out; c += kLanes) {
    for (int64_t a = 0; a < 3; ++a) {
      row.in == 1 ? WeightSums<1>(row, dy, a, c, dw) : WeightSums<3>(row, dy, a, c, dw);
    }
  }
}

}  // namespace kindred::KINDRED_THIN

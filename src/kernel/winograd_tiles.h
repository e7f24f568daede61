// The transforms of tiles, compiled twice: once for AVX2 and FMA, once for any x86. Each copy is in
// a namespace of its own, KINDRED_TILES; include nowhere else.
#include <cstdint>
#include <cstring>

#include "kernel/conv_shape.h"

namespace kindred::KINDRED_TILES {

using Lanes = float __attribute__((vector_size(32), aligned(4)));
constexpr int64_t kLanes = 8;

// Where a tile lies: image, and its first row and column of y.
struct Tile {
  int64_t image, row, column;
};

inline Tile TileAt(const ConvShape& shape, int64_t index) {
  const int64_t across = (shape.width + 3) / 4, each = (shape.height + 3) / 4 * across;
  return {index / each, index % each / across * 4, index % across * 4};
}

inline Lanes Load(const float* from, int64_t channels) {
  Lanes lanes = {};
  if (channels >= kLanes) {
    std::memcpy(&lanes, from, sizeof(lanes));
  } else {
    for (int64_t c = 0; c < channels; ++c) lanes[c] = from[c];
  }
  return lanes;
}

inline void Store(float* to, const Lanes& lanes, int64_t channels) {
  if (channels >= kLanes) {
    std::memcpy(to, &lanes, sizeof(lanes));
  } else {
    for (int64_t c = 0; c < channels; ++c) to[c] = lanes[c];
  }
}

// B^T of six values `stride` apart, in place.
inline void TransformSix(Lanes* d, int stride) {
  const Lanes d0 = d[0], d1 = d[stride], d2 = d[2 * stride], d3 = d[3 * stride], d4 = d[4 * stride],
              d5 = d[5 * stride];
  d[0] = 4 * d0 - 5 * d2 + d4;
  const Lanes a = d4 - 4 * d2, b = d3 - 4 * d1;
  d[stride] = a + b;
  d[2 * stride] = a - b;
  const Lanes c = d4 - d2, e = 2 * (d3 - d1);
  d[3 * stride] = c + e;
  d[4 * stride] = c - e;
  d[5 * stride] = 4 * d1 - 5 * d3 + d5;
}

// A^T: six values become four.
inline void OutputFour(const Lanes* m, int stride, Lanes* y, int y_stride) {
  const Lanes m1 = m[stride], m2 = m[2 * stride], m3 = m[3 * stride], m4 = m[4 * stride];
  const Lanes p = m1 + m2, q = m1 - m2, r = m3 + m4, t = m3 - m4;
  y[0] = m[0] + p + r;
  y[y_stride] = q + 2 * t;
  y[2 * y_stride] = p + 4 * r;
  y[3 * y_stride] = q + 8 * t + m[5 * stride];
}

// A: four values become six, the way back of OutputFour.
inline void GradientSix(const Lanes* y, int stride, Lanes* m, int m_stride) {
  const Lanes y0 = y[0], y1 = y[stride], y2 = y[2 * stride], y3 = y[3 * stride];
  const Lanes a = y0 + y2, b = y1 + y3, c = y0 + 4 * y2, e = 2 * y1 + 8 * y3;
  m[0] = y0;
  m[m_stride] = a + b;
  m[2 * m_stride] = a - b;
  m[3 * m_stride] = c + e;
  m[4 * m_stride] = c - e;
  m[5 * m_stride] = y3;
}

// Tiles first, ..., first + count - 1 of an image with `channels` channels, transformed by B:
// out[36][tiles][padded]. Rows from count on, up to `tiles`, are zero.
void InputTiles(const ConvShape& shape, int64_t channels, const float* x, int64_t first,
                int64_t count, int64_t tiles, float* out) {
  const int64_t padded = (channels + kLanes - 1) / kLanes * kLanes;
  static constexpr float kZeros[kLanes] = {};
  for (int64_t t = 0; t < tiles; ++t) {
    if (t >= count) {
      for (int64_t i = 0; i < 36; ++i) {
        std::memset(out + (i * tiles + t) * padded, 0, static_cast<size_t>(padded) * sizeof(float));
      }
      continue;
    }
    const Tile tile = TileAt(shape, first + t);
    const float* at[36];  // null: outside
    for (int64_t i = 0; i < 6; ++i) {
      for (int64_t j = 0; j < 6; ++j) {
        const int64_t row = tile.row + i - 1, column = tile.column + j - 1;
        const bool inside = row >= 0 && row < shape.height && column >= 0 && column < shape.width;
        at[6 * i + j] =
            inside ? x + ((tile.image * shape.height + row) * shape.width + column) * channels
                   : nullptr;
      }
    }
    for (int64_t c = 0; c < channels; c += kLanes) {
      Lanes d[36];
      for (int i = 0; i < 36; ++i) {
        d[i] = at[i] != nullptr ? Load(at[i] + c, channels - c) : Load(kZeros, kLanes);
      }
      for (int j = 0; j < 6; ++j) TransformSix(d + j, 6);
      for (int i = 0; i < 6; ++i) TransformSix(d + 6 * i, 1);
      for (int64_t i = 0; i < 36; ++i) {
        std::memcpy(out + (i * tiles + t) * padded + c, &d[i], sizeof(Lanes));
      }
    }
  }
}

// The way out: m[36][tiles][padded], transformed by A^T, to the 4x4 parts of y that exist.
void OutputTiles(const ConvShape& shape, int64_t channels, const float* m, int64_t first,
                 int64_t count, int64_t tiles, float* y) {
  const int64_t padded = (channels + kLanes - 1) / kLanes * kLanes;
  for (int64_t t = 0; t < count; ++t) {
    const Tile tile = TileAt(shape, first + t);
    for (int64_t c = 0; c < channels; c += kLanes) {
      Lanes in[36], half[24], out[16];
      for (int64_t i = 0; i < 36; ++i) {
        std::memcpy(&in[i], m + (i * tiles + t) * padded + c, sizeof(Lanes));
      }
      for (int j = 0; j < 6; ++j) OutputFour(in + j, 6, half + j, 6);
      for (int i = 0; i < 4; ++i) OutputFour(half + 6 * i, 1, out + 4 * i, 1);
      for (int64_t i = 0; i < 4 && tile.row + i < shape.height; ++i) {
        for (int64_t j = 0; j < 4 && tile.column + j < shape.width; ++j) {
          float* to =
              y + ((tile.image * shape.height + tile.row + i) * shape.width + tile.column + j) *
                      channels;
          Store(to + c, out[4 * i + j], channels - c);
        }
      }
    }
  }
}

// 4x4 parts of dy, zero where there is no y, transformed by A: out[36][tiles][padded].
void GradientTiles(const ConvShape& shape, int64_t channels, const float* dy, int64_t first,
                   int64_t count, int64_t tiles, float* out) {
  const int64_t padded = (channels + kLanes - 1) / kLanes * kLanes;
  for (int64_t t = 0; t < tiles; ++t) {
    if (t >= count) {
      for (int64_t i = 0; i < 36; ++i) {
        std::memset(out + (i * tiles + t) * padded, 0, static_cast<size_t>(padded) * sizeof(float));
      }
      continue;
    }
    const Tile tile = TileAt(shape, first + t);
    for (int64_t c = 0; c < channels; c += kLanes) {
      Lanes in[16], half[24], m[36];
      for (int64_t i = 0; i < 4; ++i) {
        for (int64_t j = 0; j < 4; ++j) {
          const int64_t row = tile.row + i, column = tile.column + j;
          in[4 * i + j] =
              row < shape.height && column < shape.width
                  ? Load(dy +
                             ((tile.image * shape.height + row) * shape.width + column) * channels +
                             c,
                         channels - c)
                  : Lanes{};
        }
      }
      for (int j = 0; j < 4; ++j) GradientSix(in + j, 4, half + j, 4);         // [6, 4]
      for (int i = 0; i < 6; ++i) GradientSix(half + 4 * i, 1, m + 6 * i, 1);  // [6, 6]
      for (int64_t i = 0; i < 36; ++i) {
        std::memcpy(out + (i * tiles + t) * padded + c, &m[i], sizeof(Lanes));
      }
    }
  }
}

// G: three values become six.
inline void WeightSix(const Lanes* w, int stride, Lanes* u, int u_stride) {
  const Lanes w0 = w[0], w1 = w[stride], w2 = w[2 * stride];
  const Lanes a = (w0 + w2) * (-1 / 6.f), b = w1 * (1 / 6.f);
  const Lanes c = w0 * (1 / 24.f) + w2 * (1 / 6.f), e = w1 * (1 / 12.f);
  u[0] = w0 * 0.25f;
  u[u_stride] = a - b;
  u[2 * u_stride] = a + b;
  u[3 * u_stride] = c + e;
  u[4 * u_stride] = c - e;
  u[5 * u_stride] = w2;
}

// G^T: six values become three, the way back of WeightSix.
inline void WeightThree(const Lanes* u, int stride, Lanes* w, int w_stride) {
  const Lanes u1 = u[stride], u2 = u[2 * stride], u3 = u[3 * stride], u4 = u[4 * stride];
  const Lanes sixth = (u1 + u2) * (-1 / 6.f), sum = u3 + u4;
  w[0] = u[0] * 0.25f + sixth + sum * (1 / 24.f);
  w[w_stride] = (u2 - u1) * (1 / 6.f) + (u3 - u4) * (1 / 12.f);
  w[2 * w_stride] = sixth + sum * (1 / 6.f) + u[5 * stride];
}

// A row of weights: w[c] is 3x3 at w + c stride, turned around when `flip`; u[36 x position][c].
void WeightRow(const float* w, int64_t stride, int64_t columns, bool flip, float* u,
               int64_t position) {
  for (int64_t c = 0; c < columns; c += kLanes) {
    Lanes in[9] = {}, half[18], out[36];
    for (int64_t lane = 0; lane < kLanes && c + lane < columns; ++lane) {
      const float* from = w + (c + lane) * stride;
      for (int i = 0; i < 9; ++i) in[i][lane] = from[flip ? 8 - i : i];
    }
    for (int b = 0; b < 3; ++b) WeightSix(in + b, 3, half + b, 3);           // [6, 3]
    for (int i = 0; i < 6; ++i) WeightSix(half + 3 * i, 1, out + 6 * i, 1);  // [6, 6]
    for (int64_t i = 0; i < 36; ++i) std::memcpy(u + i * position + c, &out[i], sizeof(Lanes));
  }
}

// The way back for gradients, without turning around.
void WeightGradientRow(const float* du, int64_t position, int64_t columns, float* dw,
                       int64_t stride) {
  for (int64_t c = 0; c < columns; c += kLanes) {
    Lanes in[36], half[18], out[9];
    for (int64_t i = 0; i < 36; ++i) std::memcpy(&in[i], du + i * position + c, sizeof(Lanes));
    for (int j = 0; j < 6; ++j) WeightThree(in + j, 6, half + j, 6);           // [3, 6]
    for (int a = 0; a < 3; ++a) WeightThree(half + 6 * a, 1, out + 3 * a, 1);  // [3, 3]
    for (int64_t lane = 0; lane < kLanes && c + lane < columns; ++lane) {
      float* to = dw + (c + lane) * stride;
      for (int i = 0; i < 9; ++i) to[i] = out[i][lane];
    }
  }
}

}  // namespace kindred::KINDRED_TILES

// The transforms of tiles, compiled twice: once for AVX2 and FMA, once for any x86. Each copy is in
// a namespace of its own, KINDRED_TILES; include nowhere else.
//
// Eight channels are transformed at once. Transformed tiles lie in 36 matrices, one a position of
// the 6x6 tile, a tile a row.
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernel/conv_shape.h"
#include "kernel/lanes.h"
#include "kernel/panels.h"

namespace kindred::KINDRED_TILES {

// Where a tile lies: image, and its first row and column of y.
struct Tile {
  int64_t image, row, column;
};

inline Tile TileAt(const ConvShape& shape, int64_t index) {
  const int64_t across = (shape.width + 3) / 4, each = (shape.height + 3) / 4 * across;
  return {index / each, index % each / across * 4, index % across * 4};
}

// An array that pixels are read from.
struct Source {
  const float* values;
  int64_t size;
};

// Eight channels of a pixel from `at` on, or the `channels` that are left of them and zeros.
template <bool kFull>
KINDRED_INLINE void Load(const Source& x, int64_t at, int64_t channels, Lanes& lanes) {
  if constexpr (kFull) {
    LoadLanes(x.values + at, lanes);
  } else if (at + kLanes <= x.size) {  // reads into the next pixel
    using Numbers = int32_t __attribute__((vector_size(32)));
    constexpr Numbers kNumbers = {0, 1, 2, 3, 4, 5, 6, 7};
    LoadLanes(x.values + at, lanes);
    lanes = kNumbers < static_cast<int32_t>(channels) ? lanes : Lanes{};
  } else {
    lanes = Lanes{};
    std::memcpy(&lanes, x.values + at, static_cast<size_t>(channels) * sizeof(float));
  }
}

template <bool kFull>
KINDRED_INLINE void Store(float* to, const Lanes& lanes, int64_t channels) {
  if constexpr (kFull) {
    StoreLanes(to, lanes);
  } else {
    std::memcpy(to, &lanes, static_cast<size_t>(channels) * sizeof(float));
  }
}

// B^T: six values, `stride` apart, of d become six of v.
KINDRED_INLINE void InputSix(const Lanes* d, int stride, Lanes* v, int v_stride) {
  const Lanes d0 = d[0], d1 = d[stride], d2 = d[2 * stride], d3 = d[3 * stride], d4 = d[4 * stride],
              d5 = d[5 * stride];
  v[0] = 4 * d0 - 5 * d2 + d4;
  const Lanes a = d4 - 4 * d2, b = d3 - 4 * d1;
  v[v_stride] = a + b;
  v[2 * v_stride] = a - b;
  const Lanes c = d4 - d2, e = 2 * (d3 - d1);
  v[3 * v_stride] = c + e;
  v[4 * v_stride] = c - e;
  v[5 * v_stride] = 4 * d1 - 5 * d3 + d5;
}

// A^T: six values become four.
KINDRED_INLINE void OutputFour(const Lanes* m, int stride, Lanes* y, int y_stride) {
  const Lanes m1 = m[stride], m2 = m[2 * stride], m3 = m[3 * stride], m4 = m[4 * stride];
  const Lanes p = m1 + m2, q = m1 - m2, r = m3 + m4, t = m3 - m4;
  y[0] = m[0] + p + r;
  y[y_stride] = q + 2 * t;
  y[2 * y_stride] = p + 4 * r;
  y[3 * y_stride] = q + 8 * t + m[5 * stride];
}

// A: four values become six, the way back of OutputFour.
KINDRED_INLINE void GradientSix(const Lanes* y, int stride, Lanes* m, int m_stride) {
  const Lanes y0 = y[0], y1 = y[stride], y2 = y[2 * stride], y3 = y[3 * stride];
  const Lanes a = y0 + y2, b = y1 + y3, c = y0 + 4 * y2, e = 2 * y1 + 8 * y3;
  m[0] = y0;
  m[m_stride] = a + b;
  m[2 * m_stride] = a - b;
  m[3 * m_stride] = c + e;
  m[4 * m_stride] = c - e;
  m[5 * m_stride] = y3;
}

// The rows and columns of a tile's part, `size` x `size` from (row, column) on, that exist.
struct Inside {
  int64_t first_row, end_row, first_column, end_column;

  bool All(int64_t size) const {
    return first_row == 0 && first_column == 0 && end_row == size && end_column == size;
  }
};

inline Inside InsideOf(const ConvShape& shape, int64_t row, int64_t column, int64_t size) {
  const auto end = [&](int64_t from, int64_t to) { return to - from < size ? to - from : size; };
  return {row < 0 ? -row : 0, end(row, shape.height), column < 0 ? -column : 0,
          end(column, shape.width)};
}

// A row of the part: kSize pixels from x[at] on, zero where there are none.
template <bool kAll, bool kFull, int kSize>
KINDRED_INLINE void LoadRow(const Source& x, int64_t at, int64_t pixel, int64_t channels,
                            int64_t row, const Inside& inside, Lanes* d) {
  const bool none = !kAll && (row < inside.first_row || row >= inside.end_row);
#pragma GCC unroll 6
  for (int j = 0; j < kSize; ++j) {
    if (!kAll && (none || j < inside.first_column || j >= inside.end_column)) {
      d[j] = Lanes{};
    } else {
      Load<kFull>(x, at + j * pixel, channels, d[j]);
    }
  }
}

template <bool kAll, bool kFull>
KINDRED_INLINE void InputLanes(const Source& x, int64_t at, int64_t line, int64_t pixel,
                               int64_t channels, const Inside& inside, float* out,
                               int64_t position) {
  Lanes half[36];
#pragma GCC unroll 6
  for (int i = 0; i < 6; ++i) {
    Lanes d[6];
    LoadRow<kAll, kFull, 6>(x, at + i * line, pixel, channels, i, inside, d);
    InputSix(d, 1, half + 6 * i, 1);
  }
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j) {
    Lanes v[6];
    InputSix(half + j, 6, v, 1);
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) StoreLanes(out + (6 * i + j) * position, v[i]);
  }
}

template <bool kAll, bool kFull>
KINDRED_INLINE void GradientLanes(const Source& dy, int64_t at, int64_t line, int64_t pixel,
                                  int64_t channels, const Inside& inside, float* out,
                                  int64_t position) {
  Lanes half[24];  // [4, 6]
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    Lanes d[4];
    LoadRow<kAll, kFull, 4>(dy, at + i * line, pixel, channels, i, inside, d);
    GradientSix(d, 1, half + 6 * i, 1);
  }
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j) {
    Lanes m[6];
    GradientSix(half + j, 6, m, 1);
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) StoreLanes(out + (6 * i + j) * position, m[i]);
  }
}

template <bool kAll, bool kFull>
KINDRED_INLINE void OutputLanes(const float* m, int64_t position, int64_t line, int64_t pixel,
                                int64_t channels, const Inside& inside, bool add, float* y) {
  Lanes half[24];  // [4, 6]
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j) {
    Lanes in[6];
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) LoadLanes(m + (6 * i + j) * position, in[i]);
    OutputFour(in, 1, half + j, 6);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    if (!kAll && i >= inside.end_row) break;
    Lanes out[4];
    OutputFour(half + 6 * i, 1, out, 1);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      if (kAll || j < inside.end_column) {
        float* to = y + i * line + j * pixel;
        if (add) {
          Lanes before;
          Load<kFull>({to, channels}, 0, channels, before);
          out[j] += before;
        }
        Store<kFull>(to, out[j], channels);
      }
    }
  }
}

// Calls body(all, full, c, what is left of the channels) for each eight channels; the flags are
// constants to the compiler.
template <class Body>
KINDRED_INLINE void EachLanes(bool all, int64_t channels, const Body& body) {
  using Yes = std::true_type;
  using No = std::false_type;
  int64_t c = 0;
  if (all) {
    for (; c + kLanes <= channels; c += kLanes) body(Yes{}, Yes{}, c, kLanes);
  } else {
    for (; c + kLanes <= channels; c += kLanes) body(No{}, Yes{}, c, kLanes);
  }
  if (c < channels) {
    all ? body(Yes{}, No{}, c, channels - c) : body(No{}, No{}, c, channels - c);
  }
}

void ZeroTile(const Panels& layout, int64_t t, float* out) {
  for (int64_t i = 0; i < 36; ++i) {
    for (int64_t c = 0; c < layout.columns; c += kLanes) {
      std::memset(out + i * layout.position + layout.At(t, c), 0, sizeof(Lanes));
    }
  }
}

// Tiles first, ..., first + count - 1 of x with `channels` channels, transformed by B; rows from
// count on, up to `rows`, are zero.
void InputTiles(const ConvShape& shape, int64_t channels, const float* x, int64_t first,
                int64_t count, int64_t rows, const Panels& layout, float* out) {
  const int64_t line = shape.width * channels;
  const Source source = {x, shape.batch * shape.height * line};
  for (int64_t t = 0; t < count; ++t) {
    const Tile tile = TileAt(shape, first + t);
    const Inside inside = InsideOf(shape, tile.row - 1, tile.column - 1, 6);
    // Its first pixel, even where that lies outside.
    const int64_t from =
        (tile.image * shape.height + tile.row - 1) * line + (tile.column - 1) * channels;
    EachLanes(inside.All(6), channels,
              [&](auto all, auto full, int64_t c, int64_t left) KINDRED_INLINE_LAMBDA {
                InputLanes<all.value, full.value>(source, from + c, line, channels, left, inside,
                                                  out + layout.At(t, c), layout.position);
              });
  }
  for (int64_t t = count; t < rows; ++t) ZeroTile(layout, t, out);
}

// 4x4 parts of dy, zero where there is no y, transformed by A.
void GradientTiles(const ConvShape& shape, int64_t channels, const float* dy, int64_t first,
                   int64_t count, int64_t rows, const Panels& layout, float* out) {
  const int64_t line = shape.width * channels;
  const Source source = {dy, shape.batch * shape.height * line};
  for (int64_t t = 0; t < count; ++t) {
    const Tile tile = TileAt(shape, first + t);
    const Inside inside = InsideOf(shape, tile.row, tile.column, 4);
    const int64_t from = (tile.image * shape.height + tile.row) * line + tile.column * channels;
    EachLanes(inside.All(4), channels,
              [&](auto all, auto full, int64_t c, int64_t left) KINDRED_INLINE_LAMBDA {
                GradientLanes<all.value, full.value>(source, from + c, line, channels, left, inside,
                                                     out + layout.At(t, c), layout.position);
              });
  }
  for (int64_t t = count; t < rows; ++t) ZeroTile(layout, t, out);
}

// The way out: m, transformed by A^T, to the 4x4 parts of y that exist, or added to them.
void OutputTiles(const ConvShape& shape, int64_t channels, const float* m, int64_t first,
                 int64_t count, const Panels& layout, bool add, float* y) {
  const int64_t line = shape.width * channels;
  for (int64_t t = 0; t < count; ++t) {
    const Tile tile = TileAt(shape, first + t);
    const Inside inside = InsideOf(shape, tile.row, tile.column, 4);
    float* to = y + (tile.image * shape.height + tile.row) * line + tile.column * channels;
    EachLanes(inside.All(4), channels,
              [&](auto all, auto full, int64_t c, int64_t left) KINDRED_INLINE_LAMBDA {
                OutputLanes<all.value, full.value>(m + layout.At(t, c), layout.position, line,
                                                   channels, left, inside, add, to + c);
              });
  }
}

// G: three values become six.
KINDRED_INLINE void WeightSix(const Lanes* w, int stride, Lanes* u, int u_stride) {
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
KINDRED_INLINE void WeightThree(const Lanes* u, int stride, Lanes* w, int w_stride) {
  const Lanes u1 = u[stride], u2 = u[2 * stride], u3 = u[3 * stride], u4 = u[4 * stride];
  const Lanes sixth = (u1 + u2) * (-1 / 6.f), sum = u3 + u4;
  w[0] = u[0] * 0.25f + sixth + sum * (1 / 24.f);
  w[w_stride] = (u2 - u1) * (1 / 6.f) + (u3 - u4) * (1 / 12.f);
  w[2 * w_stride] = sixth + sum * (1 / 6.f) + u[5 * stride];
}

// Eight (or `count`) 3x3 weights, `stride` floats apart, turned around when `flip`: u[i position].
void WeightLanes(const float* w, int64_t stride, int64_t count, bool flip, int64_t position,
                 float* u) {
  Lanes in[9] = {}, half[18], out[36];
  for (int64_t lane = 0; lane < count; ++lane) {
    const float* from = w + lane * stride;
    for (int i = 0; i < 9; ++i) in[i][lane] = from[flip ? 8 - i : i];
  }
#pragma GCC unroll 3
  for (int b = 0; b < 3; ++b) WeightSix(in + b, 3, half + b, 3);  // [6, 3]
#pragma GCC unroll 6
  for (int i = 0; i < 6; ++i) WeightSix(half + 3 * i, 1, out + 6 * i, 1);  // [6, 6]
#pragma GCC unroll 36
  for (int64_t i = 0; i < 36; ++i) StoreLanes(u + i * position, out[i]);
}

// The way back for gradients, without turning around.
void WeightGradientLanes(const float* du, int64_t position, int64_t count, int64_t stride,
                         float* dw) {
  Lanes in[36], half[18], out[9];
#pragma GCC unroll 36
  for (int64_t i = 0; i < 36; ++i) LoadLanes(du + i * position, in[i]);
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j) WeightThree(in + j, 6, half + j, 6);  // [3, 6]
#pragma GCC unroll 3
  for (int a = 0; a < 3; ++a) WeightThree(half + 6 * a, 1, out + 3 * a, 1);  // [3, 3]
  for (int64_t lane = 0; lane < count; ++lane) {
    float* to = dw + lane * stride;
    for (int i = 0; i < 9; ++i) to[i] = out[i][lane];
  }
}

}  // namespace kindred::KINDRED_TILES

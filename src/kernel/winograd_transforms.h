// The transforms of tiles, compiled twice: once for AVX2 and FMA, once for any x86. Each copy is in
// a namespace of its own, KINDRED_TILES; include nowhere else. Eight channels are transformed at
// once.
#include <cstring>
#include <type_traits>

#include "kernel/lanes.h"
#include "kernel/winograd_tiles.h"

namespace kindred::KINDRED_TILES {
namespace {

// Maps of kFrom values, `stride` apart, to kTo; a tile is mapped by columns and by rows.

// F(4, 3), at the points 0, 1, -1, 2, -2, infinity.
struct InputOne {  // B^T
  static constexpr int kFrom = 6, kTo = 6;
  static KINDRED_INLINE void Map(const Lanes* d, int stride, Lanes* v, int v_stride) {
    const Lanes d0 = d[0], d1 = d[stride], d2 = d[2 * stride], d3 = d[3 * stride],
                d4 = d[4 * stride], d5 = d[5 * stride];
    v[0] = 4 * d0 - 5 * d2 + d4;
    const Lanes a = d4 - 4 * d2, b = d3 - 4 * d1;
    v[v_stride] = a + b;
    v[2 * v_stride] = a - b;
    const Lanes c = d4 - d2, e = 2 * (d3 - d1);
    v[3 * v_stride] = c + e;
    v[4 * v_stride] = c - e;
    v[5 * v_stride] = 4 * d1 - 5 * d3 + d5;
  }
};

struct OutputOne {  // A^T
  static constexpr int kFrom = 6, kTo = 4;
  static KINDRED_INLINE void Map(const Lanes* m, int stride, Lanes* y, int y_stride) {
    const Lanes m1 = m[stride], m2 = m[2 * stride], m3 = m[3 * stride], m4 = m[4 * stride];
    const Lanes p = m1 + m2, q = m1 - m2, r = m3 + m4, t = m3 - m4;
    y[0] = m[0] + p + r;
    y[y_stride] = q + 2 * t;
    y[2 * y_stride] = p + 4 * r;
    y[3 * y_stride] = q + 8 * t + m[5 * stride];
  }
};

struct GradientOne {  // A
  static constexpr int kFrom = 4, kTo = 6;
  static KINDRED_INLINE void Map(const Lanes* y, int stride, Lanes* m, int m_stride) {
    const Lanes y0 = y[0], y1 = y[stride], y2 = y[2 * stride], y3 = y[3 * stride];
    const Lanes a = y0 + y2, b = y1 + y3, c = y0 + 4 * y2, e = 2 * y1 + 8 * y3;
    m[0] = y0;
    m[m_stride] = a + b;
    m[2 * m_stride] = a - b;
    m[3 * m_stride] = c + e;
    m[4 * m_stride] = c - e;
    m[5 * m_stride] = y3;
  }
};

struct WeightsOne {  // G
  static KINDRED_INLINE void Map(const Lanes* w, int stride, Lanes* u, int u_stride) {
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

  static KINDRED_INLINE void Back(const Lanes* u, int stride, Lanes* w, int w_stride) {  // G^T
    const Lanes u1 = u[stride], u2 = u[2 * stride], u3 = u[3 * stride], u4 = u[4 * stride];
    const Lanes sixth = (u1 + u2) * (-1 / 6.f), sum = u3 + u4;
    w[0] = u[0] * 0.25f + sixth + sum * (1 / 24.f);
    w[w_stride] = (u2 - u1) * (1 / 6.f) + (u3 - u4) * (1 / 12.f);
    w[2 * w_stride] = sixth + sum * (1 / 6.f) + u[5 * stride];
  }
};

// Stride 2: y[i] = w0 x[2i-1] + w2 x[2i+1], which is F(4, 2) on every other pixel at the points 0,
// 1, -1, 2, infinity, positions 0 to 4; and w1 x[2i], positions 5 to 8, one per pixel.
KINDRED_INLINE void InputFive(const Lanes* z, int stride, Lanes* v, int v_stride) {  // B^T
  const Lanes z0 = z[0], z1 = z[stride], z2 = z[2 * stride], z3 = z[3 * stride], z4 = z[4 * stride];
  const Lanes a = z3 - z1;
  v[0] = 2 * (z0 - z2) + a;
  v[v_stride] = z3 - z2 - 2 * z1;
  v[2 * v_stride] = z3 - 3 * z2 + 2 * z1;
  v[3 * v_stride] = a;
  v[4 * v_stride] = z4 - z2 - 2 * a;
}

KINDRED_INLINE void OutputFour(const Lanes* m, int stride, Lanes* y, int y_stride) {  // A^T
  const Lanes m1 = m[stride], m2 = m[2 * stride], m3 = m[3 * stride];
  const Lanes p = m1 + m2, q = m1 - m2;
  y[0] = m[0] + p + m3;
  y[y_stride] = q + 2 * m3;
  y[2 * y_stride] = p + 4 * m3;
  y[3 * y_stride] = q + 8 * m3 + m[4 * stride];
}

struct InputTwo {  // of x[2i-1], x[2i], ..., x[2i+7]
  static constexpr int kFrom = 9, kTo = 9;
  static KINDRED_INLINE void Map(const Lanes* d, int stride, Lanes* v, int v_stride) {
    InputFive(d, 2 * stride, v, v_stride);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) v[(5 + i) * v_stride] = d[(1 + 2 * i) * stride];
  }
};

struct OutputTwo {
  static constexpr int kFrom = 9, kTo = 4;
  static KINDRED_INLINE void Map(const Lanes* m, int stride, Lanes* y, int y_stride) {
    OutputFour(m, stride, y, y_stride);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) y[i * y_stride] += m[(5 + i) * stride];
  }
};

struct GradientTwo {
  static constexpr int kFrom = 4, kTo = 9;
  static KINDRED_INLINE void Map(const Lanes* y, int stride, Lanes* m, int m_stride) {
    const Lanes y0 = y[0], y1 = y[stride], y2 = y[2 * stride], y3 = y[3 * stride];
    const Lanes a = y0 + y2, b = y1 + y3;
    m[0] = y0;
    m[m_stride] = a + b;
    m[2 * m_stride] = a - b;
    m[3 * m_stride] = y0 + 2 * y1 + 4 * y2 + 8 * y3;
    m[4 * m_stride] = y3;
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) m[(5 + i) * m_stride] = y[i * stride];
  }
};

// dx[2i+1] = w2 dy[i] + w0 dy[i+1] and dx[2i] = w1 dy[i].
struct DataInputTwo {
  static constexpr int kFrom = 5, kTo = 9;
  static KINDRED_INLINE void Map(const Lanes* d, int stride, Lanes* v, int v_stride) {
    InputFive(d, stride, v, v_stride);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) v[(5 + i) * v_stride] = d[i * stride];
  }
};

struct DataOutputTwo {
  static constexpr int kFrom = 9, kTo = 8;
  static KINDRED_INLINE void Map(const Lanes* m, int stride, Lanes* y, int y_stride) {
    OutputFour(m, stride, y + y_stride, 2 * y_stride);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) y[2 * i * y_stride] = m[(5 + i) * stride];
  }
};

struct WeightsTwo {
  static KINDRED_INLINE void Map(const Lanes* w, int stride, Lanes* u, int u_stride) {
    const Lanes w0 = w[0], w2 = w[2 * stride];
    u[0] = w0 * 0.5f;
    u[u_stride] = (w0 + w2) * -0.5f;
    u[2 * u_stride] = (w2 - w0) * (1 / 6.f);
    u[3 * u_stride] = w0 * (1 / 6.f) + w2 * (1 / 3.f);
    u[4 * u_stride] = w2;
    u[5 * u_stride] = w[stride];
  }

  static KINDRED_INLINE void Back(const Lanes* u, int stride, Lanes* w, int w_stride) {
    const Lanes u1 = u[stride], u2 = u[2 * stride], u3 = u[3 * stride];
    w[0] = (u[0] - u1) * 0.5f + (u3 - u2) * (1 / 6.f);
    w[w_stride] = u[5 * stride];
    w[2 * w_stride] = u2 * (1 / 6.f) - u1 * 0.5f + u3 * (1 / 3.f) + u[4 * stride];
  }
};

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

// Where a tile of kSize x kSize lies: its first pixel, even where that is outside, and the rows and
// columns that exist.
template <int kSize>
struct Tile {
  int64_t at;
  int64_t first_row, end_row, first_column, end_column;

  Tile(const TileGrid& grid, int64_t index) {
    const int64_t each = grid.down * grid.across, image = index / each;
    const int64_t row = index % each / grid.across * grid.step - grid.border,
                  column = index % grid.across * grid.step - grid.border;
    at = ((image * grid.height + row) * grid.width + column) * grid.channels;
    const auto end = [](int64_t left) { return left < kSize ? left : kSize; };
    first_row = row < 0 ? -row : 0;
    end_row = end(grid.height - row);
    first_column = column < 0 ? -column : 0;
    end_column = end(grid.width - column);
  }

  bool IsWhole() const {
    return first_row == 0 && first_column == 0 && end_row == kSize && end_column == kSize;
  }
};

template <class By, bool kWhole, bool kFull>
KINDRED_INLINE void InLanes(const TileGrid& grid, const Source& x, const Tile<By::kFrom>& tile,
                            int64_t c, int64_t channels, int64_t position, float* out) {
  constexpr int kFrom = By::kFrom, kTo = By::kTo;
  Lanes half[kFrom * kTo];
#pragma GCC unroll 9
  for (int i = 0; i < kFrom; ++i) {
    Lanes d[kFrom];
    const bool none = !kWhole && (i < tile.first_row || i >= tile.end_row);
    const int64_t at = tile.at + c + i * grid.width * grid.channels;
#pragma GCC unroll 9
    for (int j = 0; j < kFrom; ++j) {
      if (!kWhole && (none || j < tile.first_column || j >= tile.end_column)) {
        d[j] = Lanes{};
      } else {
        Load<kFull>(x, at + j * grid.channels, channels, d[j]);
      }
    }
    By::Map(d, 1, half + kTo * i, 1);
  }
#pragma GCC unroll 9
  for (int j = 0; j < kTo; ++j) {
    Lanes v[kTo];
    By::Map(half + j, kTo, v, 1);
#pragma GCC unroll 9
    for (int i = 0; i < kTo; ++i) StoreLanes(out + (kTo * i + j) * position, v[i]);
  }
}

template <class By, bool kWhole, bool kFull>
KINDRED_INLINE void OutLanes(const TileGrid& grid, const float* m, const Tile<By::kTo>& tile,
                             int64_t c, int64_t channels, int64_t position, bool add, float* y) {
  constexpr int kFrom = By::kFrom, kTo = By::kTo;
  Lanes half[kTo * kFrom];
#pragma GCC unroll 9
  for (int j = 0; j < kFrom; ++j) {
    Lanes in[kFrom];
#pragma GCC unroll 9
    for (int i = 0; i < kFrom; ++i) LoadLanes(m + (kFrom * i + j) * position, in[i]);
    By::Map(in, 1, half + j, kFrom);
  }
#pragma GCC unroll 8
  for (int i = 0; i < kTo; ++i) {
    if (!kWhole && i >= tile.end_row) break;
    Lanes out[kTo];
    By::Map(half + kFrom * i, 1, out, 1);
    float* row = y + tile.at + c + i * grid.width * grid.channels;
#pragma GCC unroll 8
    for (int j = 0; j < kTo; ++j) {
      if (kWhole || j < tile.end_column) {
        float* to = row + j * grid.channels;
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

// Calls body(whole, full, c, what is left of the channels) for each eight channels; the flags are
// constants to the compiler.
template <class Body>
KINDRED_INLINE void EachLanes(bool whole, int64_t channels, const Body& body) {
  using Yes = std::true_type;
  using No = std::false_type;
  int64_t c = 0;
  if (whole) {
    for (; c + kLanes <= channels; c += kLanes) body(Yes{}, Yes{}, c, kLanes);
  } else {
    for (; c + kLanes <= channels; c += kLanes) body(No{}, Yes{}, c, kLanes);
  }
  if (c < channels) {
    whole ? body(Yes{}, No{}, c, channels - c) : body(No{}, No{}, c, channels - c);
  }
}

template <class By>
void TilesIn(const TileGrid& grid, const float* values, int64_t first, int64_t count, int64_t rows,
             const Panels& panels, float* out) {
  const Source source = {values, grid.batch * grid.height * grid.width * grid.channels};
  for (int64_t t = 0; t < count; ++t) {
    const Tile<By::kFrom> tile(grid, first + t);
    EachLanes(tile.IsWhole(), grid.channels,
              [&](auto whole, auto full, int64_t c, int64_t left) KINDRED_INLINE_LAMBDA {
                InLanes<By, whole.value, full.value>(grid, source, tile, c, left, panels.position,
                                                     out + panels.At(t, c));
              });
  }
  for (int64_t t = count; t < rows; ++t) {
    for (int64_t i = 0; i < By::kTo * By::kTo; ++i) {
      for (int64_t c = 0; c < panels.columns; c += kLanes) {
        std::memset(out + i * panels.position + panels.At(t, c), 0, sizeof(Lanes));
      }
    }
  }
}

template <class By>
void TilesOut(const TileGrid& grid, const float* rows, int64_t first, int64_t count,
              const Panels& panels, bool add, float* values) {
  for (int64_t t = 0; t < count; ++t) {
    const Tile<By::kTo> tile(grid, first + t);
    EachLanes(tile.IsWhole(), grid.channels,
              [&](auto whole, auto full, int64_t c, int64_t left) KINDRED_INLINE_LAMBDA {
                OutLanes<By, whole.value, full.value>(grid, rows + panels.At(t, c), tile, c, left,
                                                      panels.position, add, values);
              });
  }
}

template <class By>
void WeightLanes(const float* w, int64_t stride, int64_t count, bool flip, int64_t position,
                 float* u) {
  Lanes in[9] = {}, half[18], out[36];
  for (int64_t lane = 0; lane < count; ++lane) {
    const float* from = w + lane * stride;
    for (int i = 0; i < 9; ++i) in[i][lane] = from[flip ? 8 - i : i];
  }
#pragma GCC unroll 3
  for (int b = 0; b < 3; ++b) By::Map(in + b, 3, half + b, 3);  // [6, 3]
#pragma GCC unroll 6
  for (int i = 0; i < 6; ++i) By::Map(half + 3 * i, 1, out + 6 * i, 1);  // [6, 6]
#pragma GCC unroll 36
  for (int64_t i = 0; i < 36; ++i) StoreLanes(u + i * position, out[i]);
}

template <class By>
void WeightGradientLanes(const float* du, int64_t position, int64_t count, int64_t stride,
                         float* dw) {
  Lanes in[36], half[18], out[9];
#pragma GCC unroll 36
  for (int64_t i = 0; i < 36; ++i) LoadLanes(du + i * position, in[i]);
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j) By::Back(in + j, 6, half + j, 6);  // [3, 6]
#pragma GCC unroll 3
  for (int a = 0; a < 3; ++a) By::Back(half + 6 * a, 1, out + 3 * a, 1);  // [3, 3]
  for (int64_t lane = 0; lane < count; ++lane) {
    float* to = dw + lane * stride;
    for (int i = 0; i < 9; ++i) to[i] = out[i][lane];
  }
}

}  // namespace

const TileFunctions kStrideOne = {.side = 6,
                                  .input = TilesIn<InputOne>,
                                  .output = TilesOut<OutputOne>,
                                  .gradient = TilesIn<GradientOne>,
                                  .data_input = TilesIn<InputOne>,
                                  .data_output = TilesOut<OutputOne>,
                                  .weights = WeightLanes<WeightsOne>,
                                  .weight_gradient = WeightGradientLanes<WeightsOne>};

const TileFunctions kStrideTwo = {.side = 9,
                                  .input = TilesIn<InputTwo>,
                                  .output = TilesOut<OutputTwo>,
                                  .gradient = TilesIn<GradientTwo>,
                                  .data_input = TilesIn<DataInputTwo>,
                                  .data_output = TilesOut<DataOutputTwo>,
                                  .weights = WeightLanes<WeightsTwo>,
                                  .weight_gradient = WeightGradientLanes<WeightsTwo>};

}  // namespace kindred::KINDRED_TILES

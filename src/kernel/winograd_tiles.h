// Between winograd.cc and the transforms of its tiles, which are compiled twice.
#pragma once

#include <cstdint>

#include "kernel/panels.h"

namespace kindred {

// Values [batch, height, width, channels] cut into tiles: the one in row r and column c of an
// image's down x across begins at pixel (r step - border, c step - border) and may reach outside.
struct TileGrid {
  int64_t batch, height, width, channels;
  int64_t down, across;
  int64_t step, border;
};

// One compilation's transforms for one stride. A tile becomes side x side positions, each the row
// of a matrix in panels, the matrices one after the other; weights become 6 x 6.
struct TileFunctions {
  // Tiles first, ..., first + count - 1 of values to rows 0, ..., count - 1, zeros outside; rows
  // from there on, up to `rows`, are zero.
  using In = void(const TileGrid& grid, const float* values, int64_t first, int64_t count,
                  int64_t rows, const Panels& panels, float* out);
  // The way out: rows to the pixels that exist, or added to them.
  using Out = void(const TileGrid& grid, const float* rows, int64_t first, int64_t count,
                   const Panels& panels, bool add, float* values);

  int64_t side;
  In* input;       // of x, for y and dw
  Out* output;     // to y
  In* gradient;    // of dy, for dw
  In* data_input;  // of dy, for dx
  Out* data_output;
  // Eight (or `count`) 3x3 weights, `stride` floats apart, turned around when `flip`: 36 values,
  // `position` apart.
  void (*weights)(const float* w, int64_t stride, int64_t count, bool flip, int64_t position,
                  float* u);
  // The way back for gradients, without turning around.
  void (*weight_gradient)(const float* du, int64_t position, int64_t count, int64_t stride,
                          float* dw);
};

namespace tiles_avx2 {
extern const TileFunctions kStrideOne, kStrideTwo;
}
namespace tiles_portable {
extern const TileFunctions kStrideOne, kStrideTwo;
}

}  // namespace kindred

#include "kernel/winograd.h"

#include <algorithm>

#include "base/parallel.h"
#include "kernel/panel_product.h"
#include "kernel/scratch.h"
#include "kernel/winograd_tiles.h"

namespace kindred {

namespace {

constexpr int64_t kWeightPositions = 36;

const TileFunctions& FunctionsOf(KernelPath path, int64_t stride) {
  const bool avx2 = path == KernelPath::kAvx2;
  if (stride == 1) return avx2 ? tiles_avx2::kStrideOne : tiles_portable::kStrideOne;
  return avx2 ? tiles_avx2::kStrideTwo : tiles_portable::kStrideTwo;
}

// The tiles of a convolution in its four arrays: 4x4 of y, and of x what they are made of.
struct Grids {
  ConvShape shape;
  int64_t stride;
  int64_t height = (shape.height + stride - 1) / stride;  // of y
  int64_t width = (shape.width + stride - 1) / stride;
  int64_t down = (height + 3) / 4, across = (width + 3) / 4;
  int64_t tiles = shape.batch * down * across;
  TileGrid x{shape.batch, shape.height, shape.width, shape.in, down, across, 4 * stride, 1};
  TileGrid y{shape.batch, height, width, shape.out, down, across, 4, 0};
  // For dx: its tiles lie side by side, those of dy reach over each other.
  TileGrid dy{shape.batch, height, width, shape.out, down, across, 4, stride == 1 ? 1 : 0};
  TileGrid dx{shape.batch, shape.height, shape.width, shape.in, down, across, 4 * stride, 0};
};

// Calls visit(position) for each of the side x side positions of a tile that weight position u is
// multiplied with: one of them, or with stride 2 four where u's row or column is the last.
template <class Visit>
void EachPosition(int64_t side, int64_t u, const Visit& visit) {
  const int64_t row = u / 6, column = u % 6;
  for (int64_t i = row; i < (row < 5 ? row + 1 : side); ++i) {
    for (int64_t j = column; j < (column < 5 ? column + 1 : side); ++j) visit(i * side + j);
  }
}

int64_t RoundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

// Of so many matrices.
size_t Floats(const Panels& panels, int64_t positions) {
  return static_cast<size_t>(positions * panels.position);
}

// Tiles a block: where channels are few, what is transformed of them stays in the second-level
// cache; where they are many, enough that a pass over the weights pays.
int64_t BlockTiles(int64_t side, int64_t in, int64_t out) {
  const int64_t fit = (int64_t{1} << 19) / (side * side * (in + out) * 4);
  return in + out >= 512 ? 128 : std::clamp<int64_t>(fit / 8 * 8, side == 6 ? 32 : 16, 64);
}

thread_local Scratch tile_scratch, weight_scratch;

// u: w transformed, 36 matrices [rows, columns] in panels. The 3x3 weights of row r and column c
// are at r row_step + c column_step of w, turned around when `flip`.
struct WeightView {
  const float* w;
  int64_t rows, columns, row_step, column_step;
  bool flip;
};

// Eight columns at a time, all of their rows: w is read and u written in the order of memory.
void TransformWeights(const WeightView& view, const TileFunctions& run,
                      const KernelOptions& options, const Panels& panels, float* u) {
  const int64_t groups = panels.columns / kLanes;
  ParallelFor(options.WorkersFor(groups), static_cast<int>(groups), [&](int, int group) {
    const int64_t c = group * kLanes, count = std::min(kLanes, view.columns - c);
    for (int64_t r = 0; r < panels.rows; ++r) {
      float* to = u + panels.At(r, c);
      if (r < view.rows) {
        run.weights(view.w + r * view.row_step + c * view.column_step, view.column_step, count,
                    view.flip, panels.position, to);
      } else {
        for (int64_t i = 0; i < kWeightPositions; ++i) {
          std::fill(to + i * panels.position, to + i * panels.position + kLanes, 0.0f);
        }
      }
    }
  });
}

// How a convolution goes: the forward pass, or the data gradient, which is one with channels
// swapped and weights turned around.
struct Way {
  const TileFunctions& run;
  TileFunctions::In* input;
  TileFunctions::Out* output;
  TileGrid from, to;
};

void Convolve(const Way& way, const WeightView& view, const float* x, bool add, float* y,
              const KernelOptions& options) {
  const int64_t in = view.rows, out = view.columns, side = way.run.side;
  const int64_t tiles = way.from.batch * way.from.down * way.from.across;
  const int64_t block = std::min(BlockTiles(side, in, out), RoundUp(tiles, 8));
  const Panels v_panels(block, in), m_panels(block, out), u_panels(v_panels.columns, out);
  float* u = weight_scratch.Get(Floats(u_panels, kWeightPositions));
  TransformWeights(view, way.run, options, u_panels, u);
  const PanelProduct product(v_panels, u_panels);
  const int blocks = static_cast<int>((tiles + block - 1) / block);
  ParallelFor(options.WorkersFor(blocks), blocks, [&](int, int b) {
    const size_t v_size = Floats(v_panels, side * side);
    float* v = tile_scratch.Get(v_size + Floats(m_panels, side * side));
    float* m = v + v_size;
    const int64_t first = b * block, count = std::min(block, tiles - first);
    way.input(way.from, x, first, count, block, v_panels, v);
    for (int64_t i = 0; i < kWeightPositions; ++i) {
      EachPosition(side, i, [&](int64_t at) {
        product(v + at * v_panels.position, u + i * u_panels.position, m + at * m_panels.position);
      });
    }
    way.output(way.to, m, first, count, m_panels, add, y);
  });
}

// A weight gradient by blocks of tiles: x's tiles v, dy's tiles d, and du's 36 matrices [in, out].
struct WeightSum {
  const Grids& grids;
  const float *x, *dy;
  const TileFunctions& run;
  int64_t block;
  int64_t blocks = (grids.tiles + block - 1) / block;
  Panels v_panels{block, grids.shape.in}, d_panels{block, grids.shape.out},
      u_panels{v_panels.columns, grids.shape.out};
  PanelGradientProduct begin{v_panels, d_panels, false}, add{v_panels, d_panels, true};
  size_t v_size = Floats(v_panels, run.side*run.side), d_size = Floats(d_panels, run.side*run.side);

  // Rows row, ..., row + count - 1 of block b, zero where there are no tiles.
  void Transform(int64_t b, int64_t row, int64_t count, float* v, float* d) const {
    const int64_t first = b * block + row,
                  exist = std::clamp<int64_t>(grids.tiles - first, 0, count);
    run.input(grids.x, x, first, exist, count, v_panels, v + row * v_panels.Width());
    run.gradient(grids.y, dy, first, exist, count, d_panels, d + row * d_panels.Width());
  }

  void Multiply(int64_t position, bool first, const float* v, const float* d, float* du) const {
    EachPosition(run.side, position, [&](int64_t at) {
      (first ? begin : add)(v + at * v_panels.position, d + at * d_panels.position,
                            du + position * u_panels.position);
      first = false;
    });
  }
};

// Sums blocks part, part + parts, ... into du.
void SumPart(const WeightSum& sum, int64_t part, int64_t parts, float* du) {
  float* v = tile_scratch.Get(sum.v_size + sum.d_size);
  float* d = v + sum.v_size;
  for (int64_t b = part; b < sum.blocks; b += parts) {
    sum.Transform(b, 0, sum.block, v, d);
    for (int64_t i = 0; i < kWeightPositions; ++i) sum.Multiply(i, b == part, v, d, du);
  }
}

// Sums all blocks into du, the tiles of a block and then its positions spread over threads.
void SumSpread(const WeightSum& sum, const KernelOptions& options, float* du) {
  constexpr int64_t kSlice = 16;  // tiles
  float* v = tile_scratch.Get(sum.v_size + sum.d_size);
  float* d = v + sum.v_size;
  const auto slices = static_cast<int>((sum.block + kSlice - 1) / kSlice);
  for (int64_t b = 0; b < sum.blocks; ++b) {
    ParallelFor(options.WorkersFor(slices), slices, [&](int, int slice) {
      const int64_t row = slice * kSlice;
      sum.Transform(b, row, std::min(kSlice, sum.block - row), v, d);
    });
    ParallelFor(options.WorkersFor(kWeightPositions), static_cast<int>(kWeightPositions),
                [&](int, int i) { sum.Multiply(i, b == 0, v, d, du); });
  }
}

}  // namespace

void WinogradForward(const ConvShape& shape, int64_t stride, std::span<const float> x,
                     std::span<const float> w, std::span<float> y, const KernelOptions& options) {
  const TileFunctions& run = FunctionsOf(options.path, stride);
  const Grids grids{shape, stride};
  Convolve({run, run.input, run.output, grids.x, grids.y},
           {w.data(), shape.in, shape.out, 9, 9 * shape.in, false}, x.data(), false, y.data(),
           options);
}

void WinogradDataGradient(const ConvShape& shape, int64_t stride, std::span<const float> dy,
                          std::span<const float> w, bool add, std::span<float> dx,
                          const KernelOptions& options) {
  const TileFunctions& run = FunctionsOf(options.path, stride);
  const Grids grids{shape, stride};
  Convolve({run, run.data_input, run.data_output, grids.dy, grids.dx},
           {w.data(), shape.out, shape.in, 9 * shape.in, 9, true}, dy.data(), add, dx.data(),
           options);
}

void WinogradWeightGradient(const ConvShape& shape, int64_t stride, std::span<const float> x,
                            std::span<const float> dy, std::span<float> dw,
                            const KernelOptions& options) {
  const TileFunctions& run = FunctionsOf(options.path, stride);
  const Grids grids{shape, stride};
  const Panels panels(RoundUp(shape.in, kLanes), shape.out);
  const auto size = static_cast<int64_t>(Floats(panels, kWeightPositions));
  const int64_t block =
      std::min<int64_t>(shape.in + shape.out > 256 ? 128 : 64, RoundUp(grids.tiles, 8));
  // A fixed number of parts, so that threads change no bit. Where gradients are large, tiles are
  // few: parts would cost more than they spread.
  const bool large = size > int64_t{1} << 20;
  const int64_t parts = large ? 1 : std::min<int64_t>((grids.tiles + block - 1) / block, 4);
  float* du = weight_scratch.Get(static_cast<size_t>(parts * size));
  const WeightSum sum{grids, x.data(), dy.data(), run, block};
  if (large) {
    SumSpread(sum, options, du);
  } else {
    ParallelFor(options.WorkersFor(parts), static_cast<int>(parts),
                [&](int, int part) { SumPart(sum, part, parts, du + part * size); });
  }
  const int64_t groups = panels.columns / kLanes;
  ParallelFor(options.WorkersFor(groups), static_cast<int>(groups), [&](int, int group) {
    const int64_t c = group * kLanes, count = std::min(kLanes, shape.out - c);
    for (int64_t r = 0; r < shape.in; ++r) {
      float* whole = du + panels.At(r, c);
      for (int64_t part = 1; part < parts; ++part) {
        for (int64_t i = 0; i < kWeightPositions; ++i) {
          float* to = whole + i * panels.position;
          for (int64_t j = 0; j < kLanes; ++j) to[j] += to[part * size + j];
        }
      }
      run.weight_gradient(whole, panels.position, count, 9 * shape.in,
                          dw.data() + c * 9 * shape.in + r * 9);
    }
  });
}

}  // namespace kindred

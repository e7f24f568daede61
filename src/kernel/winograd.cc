#include "kernel/winograd.h"

#include <algorithm>

#include "base/parallel.h"
#include "kernel/lanes.h"
#include "kernel/panel_product.h"
#include "kernel/scratch.h"

namespace kindred {

// The transforms of winograd_tiles.h, in both compilations.
#define KINDRED_DECLARE_TILES(name)                                                                \
  namespace name {                                                                                 \
  void InputTiles(const ConvShape&, int64_t, const float*, int64_t, int64_t, int64_t,              \
                  const Panels&, float*);                                                          \
  void GradientTiles(const ConvShape&, int64_t, const float*, int64_t, int64_t, int64_t,           \
                     const Panels&, float*);                                                       \
  void OutputTiles(const ConvShape&, int64_t, const float*, int64_t, int64_t, const Panels&, bool, \
                   float*);                                                                        \
  void WeightLanes(const float*, int64_t, int64_t, bool, int64_t, float*);                         \
  void WeightGradientLanes(const float*, int64_t, int64_t, int64_t, float*);                       \
  }
KINDRED_DECLARE_TILES(tiles_avx2)
KINDRED_DECLARE_TILES(tiles_portable)
#undef KINDRED_DECLARE_TILES

namespace {

constexpr int64_t kPositions = 36;

struct TileFunctions {
  decltype(&tiles_portable::InputTiles) input;
  decltype(&tiles_portable::GradientTiles) gradient;
  decltype(&tiles_portable::OutputTiles) output;
  decltype(&tiles_portable::WeightLanes) weights;
  decltype(&tiles_portable::WeightGradientLanes) weight_gradient;
};

#define KINDRED_TILE_FUNCTIONS(name)                                             \
  TileFunctions {                                                                \
    name::InputTiles, name::GradientTiles, name::OutputTiles, name::WeightLanes, \
        name::WeightGradientLanes                                                \
  }

TileFunctions FunctionsOf(KernelPath path) {
  return path == KernelPath::kAvx2 ? KINDRED_TILE_FUNCTIONS(tiles_avx2)
                                   : KINDRED_TILE_FUNCTIONS(tiles_portable);
}
#undef KINDRED_TILE_FUNCTIONS

int64_t Tiles(const ConvShape& shape) {
  return shape.batch * ((shape.height + 3) / 4) * ((shape.width + 3) / 4);
}

int64_t RoundUp(int64_t value, int64_t to) { return (value + to - 1) / to * to; }

size_t Floats(const Panels& panels) { return static_cast<size_t>(kPositions * panels.position); }

// Tiles a block: where channels are few, what is transformed of them stays in the second-level
// cache; where they are many, enough that a pass over the weights pays.
int64_t BlockTiles(int64_t in, int64_t out) {
  const int64_t fit = (int64_t{1} << 19) / (kPositions * (in + out) * 4);
  return in + out >= 512 ? 128 : std::clamp<int64_t>(fit / 8 * 8, 32, 64);
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
        for (int64_t i = 0; i < kPositions; ++i) {
          std::fill(to + i * panels.position, to + i * panels.position + kLanes, 0.0f);
        }
      }
    }
  });
}

// y = conv(x, w) or y += conv(x, w): the forward pass, and the data gradient with channels swapped
// and weights turned around.
void Convolve(const ConvShape& shape, const WeightView& view, const float* x, bool add, float* y,
              const KernelOptions& options) {
  const TileFunctions run = FunctionsOf(options.path);
  const int64_t in = view.rows, out = view.columns, tiles = Tiles(shape);
  const int64_t block = std::min(BlockTiles(in, out), RoundUp(tiles, 8));
  const Panels v_panels(block, in), m_panels(block, out), u_panels(v_panels.columns, out);
  float* u = weight_scratch.Get(Floats(u_panels));
  TransformWeights(view, run, options, u_panels, u);
  const PanelProduct product(v_panels, u_panels);
  const int blocks = static_cast<int>((tiles + block - 1) / block);
  ParallelFor(options.WorkersFor(blocks), blocks, [&](int, int b) {
    float* v = tile_scratch.Get(Floats(v_panels) + Floats(m_panels));
    float* m = v + Floats(v_panels);
    const int64_t first = b * block, count = std::min(block, tiles - first);
    run.input(shape, in, x, first, count, block, v_panels, v);
    for (int64_t i = 0; i < kPositions; ++i) {
      product(v + i * v_panels.position, u + i * u_panels.position, m + i * m_panels.position);
    }
    run.output(shape, out, m, first, count, m_panels, add, y);
  });
}

// A weight gradient by blocks of tiles: x's tiles v, dy's tiles d, and du's 36 matrices [in, out].
struct WeightSum {
  const ConvShape& shape;
  const float *x, *dy;
  TileFunctions run;
  int64_t block;
  int64_t tiles = Tiles(shape), blocks = (tiles + block - 1) / block;
  Panels v_panels{block, shape.in}, d_panels{block, shape.out},
      u_panels{v_panels.columns, shape.out};
  PanelGradientProduct begin{v_panels, d_panels, false}, add{v_panels, d_panels, true};

  // Rows row, ..., row + count - 1 of block b, zero where there are no tiles.
  void Transform(int64_t b, int64_t row, int64_t count, float* v, float* d) const {
    const int64_t first = b * block + row, exist = std::clamp<int64_t>(tiles - first, 0, count);
    run.input(shape, shape.in, x, first, exist, count, v_panels, v + row * v_panels.Width());
    run.gradient(shape, shape.out, dy, first, exist, count, d_panels, d + row * d_panels.Width());
  }

  void Multiply(int64_t position, bool first, const float* v, const float* d, float* du) const {
    (first ? begin : add)(v + position * v_panels.position, d + position * d_panels.position,
                          du + position * u_panels.position);
  }
};

// Sums blocks part, part + parts, ... into du.
void SumPart(const WeightSum& sum, int64_t part, int64_t parts, float* du) {
  float* v = tile_scratch.Get(Floats(sum.v_panels) + Floats(sum.d_panels));
  float* d = v + Floats(sum.v_panels);
  for (int64_t b = part; b < sum.blocks; b += parts) {
    sum.Transform(b, 0, sum.block, v, d);
    for (int64_t i = 0; i < kPositions; ++i) sum.Multiply(i, b == part, v, d, du);
  }
}

// Sums all blocks into du, the tiles of a block and then its positions spread over threads.
void SumSpread(const WeightSum& sum, const KernelOptions& options, float* du) {
  constexpr int64_t kSlice = 16;  // tiles
  float* v = tile_scratch.Get(Floats(sum.v_panels) + Floats(sum.d_panels));
  float* d = v + Floats(sum.v_panels);
  const auto slices = static_cast<int>((sum.block + kSlice - 1) / kSlice);
  for (int64_t b = 0; b < sum.blocks; ++b) {
    ParallelFor(options.WorkersFor(slices), slices, [&](int, int slice) {
      const int64_t row = slice * kSlice;
      sum.Transform(b, row, std::min(kSlice, sum.block - row), v, d);
    });
    ParallelFor(options.WorkersFor(kPositions), static_cast<int>(kPositions),
                [&](int, int i) { sum.Multiply(i, b == 0, v, d, du); });
  }
}

}  // namespace

void WinogradForward(const ConvShape& shape, std::span<const float> x, std::span<const float> w,
                     std::span<float> y, const KernelOptions& options) {
  Convolve(shape, {w.data(), shape.in, shape.out, 9, 9 * shape.in, false}, x.data(), false,
           y.data(), options);
}

void WinogradDataGradient(const ConvShape& shape, std::span<const float> dy,
                          std::span<const float> w, bool add, std::span<float> dx,
                          const KernelOptions& options) {
  Convolve(shape, {w.data(), shape.out, shape.in, 9 * shape.in, 9, true}, dy.data(), add, dx.data(),
           options);
}

void WinogradWeightGradient(const ConvShape& shape, std::span<const float> x,
                            std::span<const float> dy, std::span<float> dw,
                            const KernelOptions& options) {
  const TileFunctions run = FunctionsOf(options.path);
  const Panels panels(RoundUp(shape.in, kLanes), shape.out);
  const int64_t tiles = Tiles(shape), size = static_cast<int64_t>(Floats(panels));
  const int64_t block = std::min<int64_t>(shape.in + shape.out > 256 ? 128 : 64, RoundUp(tiles, 8));
  // A fixed number of parts, so that threads change no bit. Where gradients are large, tiles are
  // few: parts would cost more than they spread.
  const bool large = size > int64_t{1} << 20;
  const int64_t parts = large ? 1 : std::min<int64_t>((tiles + block - 1) / block, 4);
  float* du = weight_scratch.Get(static_cast<size_t>(parts * size));
  const WeightSum sum{shape, x.data(), dy.data(), run, block};
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
        for (int64_t i = 0; i < kPositions; ++i) {
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

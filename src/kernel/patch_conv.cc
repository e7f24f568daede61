#include "kernel/patch_conv.h"

#include <algorithm>

#include "base/parallel.h"
#include "base/vectorize.h"
#include "kernel/lanes.h"
#include "kernel/panel_product.h"
#include "kernel/scratch.h"

namespace kindred {
namespace {

constexpr int64_t kBlock = 64;  // pixels
constexpr int64_t kParts = 4;   // of a weight gradient

thread_local Scratch patch_scratch, arranged_scratch;

// How the patches and pixels of a block lie. Columns of patches go by row of the window, column of
// the window, channel: a row of the window is one run of x.
struct Geometry {
  ConvShape shape;
  Window window;
  int64_t across = (shape.width + window.stride - 1) / window.stride;
  int64_t area = (shape.height + window.stride - 1) / window.stride * across;  // of y
  int64_t block = std::min(kBlock, (shape.batch * area + 7) / 8 * 8);
  // Images whose pixels are taken together, for no two threads to write to one of them: enough that
  // few blocks are not full.
  int64_t images = std::max<int64_t>(1, 16 * kBlock / area);
  int64_t run = window.size * shape.in;  // floats of a row of the window
  Panels patches{block, window.size* run};
  Panels pixels{block, shape.out};
  Panels forward{patches.columns, shape.out};         // w
  Panels backward{pixels.columns, window.size* run};  // w^T
};

size_t Floats(const Panels& panels) { return static_cast<size_t>(panels.position); }

int64_t Groups(const Geometry& g) { return (g.shape.batch + g.images - 1) / g.images; }

// Calls visit(first pixel, pixels) for each block of a group of images.
template <class Visit>
void EachBlock(const Geometry& g, int64_t group, const Visit& visit) {
  const int64_t begin = group * g.images * g.area;
  const int64_t end = std::min(begin + g.images * g.area, g.shape.batch * g.area);
  for (int64_t first = begin; first < end; first += g.block) {
    visit(first, std::min(g.block, end - first));
  }
}

// Where the windows of y's pixels lie in x, one after the other.
struct Place {
  int64_t image, row, column;  // of the window's first corner

  KINDRED_INLINE Place(const Geometry& g, int64_t pixel)
      : image(pixel / g.area),
        row(pixel % g.area / g.across * g.window.stride - g.window.size / 2),
        column(pixel % g.across * g.window.stride - g.window.size / 2) {}

  KINDRED_INLINE void Next(const Geometry& g) {
    const int64_t border = g.window.size / 2;
    if ((column += g.window.stride) + border < g.shape.width) return;
    column = -border;
    if ((row += g.window.stride) + border < g.shape.height) return;
    row = -border;
    ++image;
  }
};

// Calls visit(first column, where in x, floats) for each run of x in a window.
template <class Visit>
KINDRED_INLINE void EachRun(const Geometry& g, const Place& place, const Visit& visit) {
  const ConvShape& s = g.shape;
  const int64_t begin = std::max<int64_t>(0, -place.column),
                end = std::min(g.window.size, s.width - place.column);
  const int64_t end_row = std::min(g.window.size, s.height - place.row);
  for (int64_t a = std::max<int64_t>(0, -place.row); a < end_row; ++a) {
    visit(a * g.run + begin * s.in,
          ((place.image * s.height + place.row + a) * s.width + place.column + begin) * s.in,
          (end - begin) * s.in);
  }
}

// Whether the window lies inside x, so that a patch has no zeros.
KINDRED_INLINE bool IsInside(const Geometry& g, const Place& place) {
  return place.row >= 0 && place.column >= 0 && place.row + g.window.size <= g.shape.height &&
         place.column + g.window.size <= g.shape.width;
}

// Calls visit(where in the panels, offset from `column`, floats) for the pieces in which columns
// column, ..., column + count - 1 of a row lie.
template <class Visit>
KINDRED_INLINE void EachPiece(const Panels& panels, int64_t row, int64_t column, int64_t count,
                              const Visit& visit) {
  const int64_t width = panels.Width();
  if (((column | count) & (width - 1)) == 0) {  // whole panels
    int64_t at = panels.At(row, column);
    for (int64_t c = 0; c < count; c += width, at += panels.rows * width) visit(at, c, width);
    return;
  }
  for (int64_t c = 0; c < count;) {
    const int64_t piece = std::min(count - c, width - ((column + c) & (width - 1)));
    visit(panels.At(row, column + c), c, piece);
    c += piece;
  }
}

KINDRED_INLINE void Copy(const float* from, int64_t count, float* to) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Lanes lanes;
    LoadLanes(from + i, lanes);
    StoreLanes(to + i, lanes);
  }
  for (; i < count; ++i) to[i] = from[i];
}

KINDRED_INLINE void Add(const float* from, int64_t count, float* to) {
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    Lanes lanes, sum;
    LoadLanes(from + i, lanes);
    LoadLanes(to + i, sum);
    StoreLanes(to + i, sum + lanes);
  }
  for (; i < count; ++i) to[i] += from[i];
}

KINDRED_INLINE void ClearRow(const Panels& panels, int64_t row, float* matrix) {
  EachPiece(panels, row, 0, panels.columns,
            [&](int64_t at, int64_t, int64_t n) KINDRED_INLINE_LAMBDA {
              for (int64_t i = 0; i < n; i += kLanes) {
                StoreLanes(matrix + at + i, Lanes{});
              }
            });
}

// The patches of pixels first, ..., first + count - 1; further rows are zero.
KINDRED_VECTORIZE void GatherPatches(const Geometry& g, const float* x, int64_t first,
                                     int64_t count, float* matrix) {
  const bool rounded = g.patches.columns != g.window.size * g.run;
  Place place(g, first);
  for (int64_t t = 0; t < g.block; ++t, place.Next(g)) {
    if (t >= count || rounded || !IsInside(g, place)) ClearRow(g.patches, t, matrix);
    if (t >= count) continue;
    EachRun(g, place, [&](int64_t column, int64_t from, int64_t n) KINDRED_INLINE_LAMBDA {
      EachPiece(g.patches, t, column, n,
                [&](int64_t at, int64_t c, int64_t piece)
                    KINDRED_INLINE_LAMBDA { Copy(x + from + c, piece, matrix + at); });
    });
  }
}

// The way back: adds patches to the pixels of dx under them.
KINDRED_VECTORIZE void ScatterPatches(const Geometry& g, const float* matrix, int64_t first,
                                      int64_t count, float* dx) {
  Place place(g, first);
  for (int64_t t = 0; t < count; ++t, place.Next(g)) {
    EachRun(g, place, [&](int64_t column, int64_t to, int64_t n) KINDRED_INLINE_LAMBDA {
      EachPiece(g.patches, t, column, n,
                [&](int64_t at, int64_t c, int64_t piece)
                    KINDRED_INLINE_LAMBDA { Add(matrix + at, piece, dx + to + c); });
    });
  }
}

// Pixels of y to panels; further rows are zero.
KINDRED_VECTORIZE void GatherPixels(const Geometry& g, const float* y, int64_t first, int64_t count,
                                    float* matrix) {
  for (int64_t t = 0; t < g.block; ++t) {
    if (t >= count || g.pixels.columns != g.shape.out) ClearRow(g.pixels, t, matrix);
    if (t >= count) continue;
    const float* from = y + (first + t) * g.shape.out;
    EachPiece(g.pixels, t, 0, g.shape.out,
              [&](int64_t at, int64_t c, int64_t piece)
                  KINDRED_INLINE_LAMBDA { Copy(from + c, piece, matrix + at); });
  }
}

KINDRED_VECTORIZE void ScatterPixels(const Geometry& g, const float* matrix, int64_t first,
                                     int64_t count, float* y) {
  for (int64_t t = 0; t < count; ++t) {
    float* to = y + (first + t) * g.shape.out;
    EachPiece(g.pixels, t, 0, g.shape.out,
              [&](int64_t at, int64_t c, int64_t piece)
                  KINDRED_INLINE_LAMBDA { Copy(matrix + at, piece, to + c); });
  }
}

// Calls visit(w's index, row and column in [size size in, out]) for each weight, in an order that
// goes through the panels of the latter.
template <class Visit>
void EachWeight(const Geometry& g, const Visit& visit) {
  const int64_t taps = g.window.size * g.window.size, in = g.shape.in, width = g.forward.Width();
  for (int64_t k = 0; k < g.shape.out; k += width) {
    const int64_t end = std::min(k + width, g.shape.out);
    for (int64_t c = 0; c < in; ++c) {
      for (int64_t tap = 0; tap < taps; ++tap) {
        for (int64_t j = k; j < end; ++j) visit((j * in + c) * taps + tap, tap * in + c, j);
      }
    }
  }
}

}  // namespace

void PatchForward(const ConvShape& shape, const Window& window, std::span<const float> x,
                  std::span<const float> w, std::span<float> y, const KernelOptions& options) {
  const Geometry g{shape, window};
  float* weights = arranged_scratch.Get(Floats(g.forward));
  std::fill_n(weights, Floats(g.forward), 0.0f);
  EachWeight(g, [&](int64_t i, int64_t row, int64_t column) {
    weights[g.forward.At(row, column)] = w[static_cast<size_t>(i)];
  });
  const PanelProduct product(g.patches, g.forward);
  const int64_t groups = Groups(g);
  ParallelFor(options.WorkersFor(groups), static_cast<int>(groups), [&](int, int group) {
    float* patches = patch_scratch.Get(Floats(g.patches) + Floats(g.pixels));
    float* pixels = patches + Floats(g.patches);
    EachBlock(g, group, [&](int64_t first, int64_t count) {
      GatherPatches(g, x.data(), first, count, patches);
      product(patches, weights, pixels);
      ScatterPixels(g, pixels, first, count, y.data());
    });
  });
}

void PatchDataGradient(const ConvShape& shape, const Window& window, std::span<const float> dy,
                       std::span<const float> w, bool add, std::span<float> dx,
                       const KernelOptions& options) {
  const Geometry g{shape, window};
  float* weights = arranged_scratch.Get(Floats(g.backward));
  std::fill_n(weights, Floats(g.backward), 0.0f);
  EachWeight(g, [&](int64_t i, int64_t row, int64_t column) {
    weights[g.backward.At(column, row)] = w[static_cast<size_t>(i)];
  });
  const PanelProduct product(g.pixels, g.backward);
  const int64_t groups = Groups(g), image = shape.height * shape.width * shape.in;
  ParallelFor(options.WorkersFor(groups), static_cast<int>(groups), [&](int, int group) {
    float* patches = patch_scratch.Get(Floats(g.patches) + Floats(g.pixels));
    float* pixels = patches + Floats(g.patches);
    if (!add) {
      const int64_t begin = group * g.images, end = std::min(begin + g.images, shape.batch);
      std::fill(dx.data() + begin * image, dx.data() + end * image, 0.0f);
    }
    EachBlock(g, group, [&](int64_t first, int64_t count) {
      GatherPixels(g, dy.data(), first, count, pixels);
      product(pixels, weights, patches);
      ScatterPatches(g, patches, first, count, dx.data());
    });
  });
}

void PatchWeightGradient(const ConvShape& shape, const Window& window, std::span<const float> x,
                         std::span<const float> dy, std::span<float> dw,
                         const KernelOptions& options) {
  const Geometry g{shape, window};
  const auto whole = static_cast<int64_t>(Floats(g.forward));
  const int64_t groups = Groups(g), parts = std::min(kParts, groups);
  float* sums = arranged_scratch.Get(static_cast<size_t>(parts * whole));
  const PanelGradientProduct begin(g.patches, g.pixels, false), add(g.patches, g.pixels, true);
  ParallelFor(options.WorkersFor(parts), static_cast<int>(parts), [&](int, int part) {
    float* patches = patch_scratch.Get(Floats(g.patches) + Floats(g.pixels));
    float* pixels = patches + Floats(g.patches);
    bool begun = false;
    for (int64_t group = part; group < groups; group += parts) {
      EachBlock(g, group, [&](int64_t first, int64_t count) {
        GatherPatches(g, x.data(), first, count, patches);
        GatherPixels(g, dy.data(), first, count, pixels);
        (begun ? add : begin)(patches, pixels, sums + part * whole);
        begun = true;
      });
    }
  });
  EachWeight(g, [&](int64_t i, int64_t row, int64_t column) {
    const int64_t at = g.forward.At(row, column);
    float sum = sums[at];
    for (int64_t part = 1; part < parts; ++part) sum += sums[part * whole + at];
    dw[static_cast<size_t>(i)] = sum;
  });
}

}  // namespace kindred

#include "kernel/pointwise_conv.h"

#include <algorithm>
#include <optional>

#include "base/parallel.h"
#include "base/vectorize.h"
#include "kernel/lanes.h"
#include "kernel/panel_product.h"
#include "kernel/product.h"
#include "kernel/scratch.h"

namespace kindred {
namespace {

constexpr int64_t kBlock = 64;     // pixels
constexpr int64_t kColumns = 32;   // of a product's weights, which stay in the first-level cache
constexpr int64_t kParts = 4;      // of a weight gradient
constexpr int64_t kFew = 64 * 64;  // weights that a product makes without panels

thread_local Scratch pixel_scratch, weight_scratch;

// The pixels of y, and where those under them lie in x.
struct Grid {
  ConvShape shape;
  int64_t stride;
  int64_t down = (shape.height + stride - 1) / stride, across = (shape.width + stride - 1) / stride;
  int64_t area = down * across;
  int64_t image = shape.height * shape.width * shape.in;     // floats of x
  int64_t images = std::max<int64_t>(1, 4 * kBlock / area);  // of a group
  int64_t groups = (shape.batch + images - 1) / images;

  // Calls visit(first pixel, pixels) for each block of a group of images.
  template <class Visit>
  void EachBlock(int64_t group, const Visit& visit) const {
    const int64_t begin = group * images * area;
    const int64_t end = std::min(begin + images * area, shape.batch * area);
    for (int64_t first = begin; first < end; first += kBlock) {
      visit(first, std::min(kBlock, end - first));
    }
  }

  // Calls visit(pixel - first, where in x) for each pixel of a block.
  template <class Visit>
  KINDRED_INLINE void EachPixel(int64_t first, int64_t count, const Visit& visit) const {
    int64_t column = first % across, row = first % area / across, from = first / area * image;
    for (int64_t i = 0; i < count; ++i) {
      visit(i, from + (row * shape.width + column) * stride * shape.in);
      if (++column < across) continue;
      column = 0;
      if (++row < down) continue;
      row = 0;
      from += image;
    }
  }
};

// The pixels of x under a block, one after the other.
KINDRED_VECTORIZE void GatherPixels(const Grid& grid, int64_t first, int64_t count, const float* x,
                                    float* pixels) {
  const int64_t in = grid.shape.in;
  grid.EachPixel(first, count, [&](int64_t i, int64_t from) KINDRED_INLINE_LAMBDA {
    for (int64_t c = 0; c < in; ++c) pixels[i * in + c] = x[from + c];
  });
}

KINDRED_VECTORIZE void ScatterPixels(const Grid& grid, int64_t first, int64_t count,
                                     const float* pixels, bool add, float* dx) {
  const int64_t in = grid.shape.in;
  grid.EachPixel(first, count, [&](int64_t i, int64_t to) KINDRED_INLINE_LAMBDA {
    if (add) {
      for (int64_t c = 0; c < in; ++c) dx[to + c] += pixels[i * in + c];
    } else {
      for (int64_t c = 0; c < in; ++c) dx[to + c] = pixels[i * in + c];
    }
  });
}

// Rows of `pixels`, each at(i) floats from it on, to panels; further rows and columns are zero.
template <class At>
KINDRED_INLINE void FillPanels(const Panels& panels, int64_t count, int64_t channels,
                               const float* pixels, const At& at, float* matrix) {
  const int64_t width = panels.Width(), step = panels.rows * width;
  for (int64_t i = 0; i < panels.rows; ++i) {
    const float* from = i < count ? pixels + at(i) : nullptr;
    float* to = matrix + panels.At(i, 0);
    for (int64_t first = 0; first < panels.columns; first += width, to += step) {
      if (from != nullptr && first + width <= channels) {
        for (int64_t c = 0; c < width; c += kLanes) {
          Lanes lanes;
          LoadLanes(from + first + c, lanes);
          StoreLanes(to + c, lanes);
        }
      } else {
        const int64_t exist = from != nullptr ? channels - first : 0;
        for (int64_t c = 0; c < width; ++c) to[c] = c < exist ? from[first + c] : 0;
      }
    }
  }
}

// The pixels of x under a block, and those of dy.
KINDRED_VECTORIZE void GatherPanels(const Grid& grid, int64_t first, int64_t count, const float* x,
                                    const Panels& panels, float* matrix) {
  int64_t places[kBlock];
  grid.EachPixel(first, count,
                 [&](int64_t i, int64_t from) KINDRED_INLINE_LAMBDA { places[i] = from; });
  FillPanels(
      panels, count, grid.shape.in, x, [&](int64_t i) KINDRED_INLINE_LAMBDA { return places[i]; },
      matrix);
}

KINDRED_VECTORIZE void GatherGradients(const Grid& grid, int64_t first, int64_t count,
                                       const float* dy, const Panels& panels, float* matrix) {
  const int64_t out = grid.shape.out;
  FillPanels(
      panels, count, out, dy + first * out,
      [&](int64_t i) KINDRED_INLINE_LAMBDA { return i * out; }, matrix);
}

// c[rows, columns] = a[rows, inner] b for up to kBlock rows, where b's columns come in panels: one
// code for whole panels, one for what is left.
class BlockProduct {
 public:
  BlockProduct(int64_t rows, int64_t columns, int64_t inner) : columns_(columns), inner_(inner) {
    const auto product = [&](int64_t wide) {
      return Product({.rows = rows,
                      .columns = wide,
                      .inner = inner,
                      .a_step = inner,
                      .b_step = wide,
                      .c_step = columns});
    };
    if (columns >= kColumns) whole_ = product(kColumns);
    if (columns % kColumns != 0) rest_ = product(columns % kColumns);
  }

  void operator()(const float* a, const float* b, float* c) const {
    int64_t j = 0;
    for (; j + kColumns <= columns_; j += kColumns) (*whole_)(a, b + j * inner_, c + j);
    if (j < columns_) (*rest_)(a, b + j * inner_, c + j);
  }

 private:
  int64_t columns_, inner_;
  std::optional<Product> whole_, rest_;
};

// Weights [inner, columns] in panels of kColumns columns; value(i, j) is the one of row i, column
// j.
template <class Value>
void ArrangePanels(int64_t inner, int64_t columns, const Value& value, float* panels) {
  for (int64_t first = 0; first < columns; first += kColumns) {
    const int64_t end = std::min(first + kColumns, columns);
    for (int64_t i = 0; i < inner; ++i) {
      for (int64_t j = first; j < end; ++j) *panels++ = value(i, j);
    }
  }
}

// Both kinds of block that occur: whole ones and a group's last.
struct BlockProducts {
  int64_t columns, inner;
  BlockProduct whole{kBlock, columns, inner};

  void operator()(int64_t count, const float* a, const float* b, float* c) const {
    count == kBlock ? whole(a, b, c) : BlockProduct(count, columns, inner)(a, b, c);
  }
};

}  // namespace

void PointwiseForward(const ConvShape& shape, int64_t stride, std::span<const float> x,
                      std::span<const float> w, std::span<float> y, const KernelOptions& options) {
  const Grid grid{shape, stride};
  float* weights = weight_scratch.Get(w.size());
  ArrangePanels(
      shape.in, shape.out,
      [&](int64_t c, int64_t k) { return w[static_cast<size_t>(k * shape.in + c)]; }, weights);
  const BlockProducts product{shape.out, shape.in};
  ParallelFor(options.WorkersFor(grid.groups), static_cast<int>(grid.groups), [&](int, int group) {
    float* pixels = pixel_scratch.Get(static_cast<size_t>(kBlock * shape.in));
    grid.EachBlock(group, [&](int64_t first, int64_t count) {
      GatherPixels(grid, first, count, x.data(), pixels);
      product(count, pixels, weights, y.data() + first * shape.out);
    });
  });
}

void PointwiseDataGradient(const ConvShape& shape, int64_t stride, std::span<const float> dy,
                           std::span<const float> w, bool add, std::span<float> dx,
                           const KernelOptions& options) {
  const Grid grid{shape, stride};
  float* weights = weight_scratch.Get(w.size());
  ArrangePanels(
      shape.out, shape.in,
      [&](int64_t k, int64_t c) { return w[static_cast<size_t>(k * shape.in + c)]; }, weights);
  const BlockProducts product{shape.in, shape.out};
  ParallelFor(options.WorkersFor(grid.groups), static_cast<int>(grid.groups), [&](int, int group) {
    float* pixels = pixel_scratch.Get(static_cast<size_t>(kBlock * shape.in));
    if (!add) {
      const int64_t begin = group * grid.images, end = std::min(begin + grid.images, shape.batch);
      std::fill(dx.data() + begin * grid.image, dx.data() + end * grid.image, 0.0f);
    }
    grid.EachBlock(group, [&](int64_t first, int64_t count) {
      product(count, dy.data() + first * shape.out, weights, pixels);
      ScatterPixels(grid, first, count, pixels, add, dx.data());
    });
  });
}

void PointwiseWeightGradient(const ConvShape& shape, int64_t stride, std::span<const float> x,
                             std::span<const float> dy, std::span<float> dw,
                             const KernelOptions& options) {
  const Grid grid{shape, stride};
  const int64_t in = shape.in, out = shape.out;
  const bool few = in * out <= kFew;
  const Panels x_panels(kBlock, in), dy_panels(kBlock, out), dw_panels(x_panels.columns, out);
  const int64_t size = few ? in * out : dw_panels.position, parts = std::min(kParts, grid.groups);
  float* sums = weight_scratch.Get(static_cast<size_t>(parts * size));
  const PanelGradientProduct add(x_panels, dy_panels, true);
  ParallelFor(options.WorkersFor(parts), static_cast<int>(parts), [&](int, int part) {
    float* pixels = pixel_scratch.Get(static_cast<size_t>(x_panels.position + dy_panels.position));
    float* gradients = pixels + x_panels.position;
    float* sum = sums + part * size;
    std::fill_n(sum, size, 0.0f);
    for (int64_t group = part; group < grid.groups; group += parts) {
      grid.EachBlock(group, [&](int64_t first, int64_t count) {
        if (few) {
          GatherPixels(grid, first, count, x.data(), pixels);
          const Product rows({.rows = in,
                              .columns = out,
                              .inner = count,
                              .a_step = in,
                              .b_step = out,
                              .c_step = out,
                              .a_transposed = true,
                              .add = true});
          rows(pixels, dy.data() + first * out, sum);
        } else {
          GatherPanels(grid, first, count, x.data(), x_panels, pixels);
          GatherGradients(grid, first, count, dy.data(), dy_panels, gradients);
          add(pixels, gradients, sum);
        }
      });
    }
  });
  for (int64_t k = 0; k < out; ++k) {
    for (int64_t c = 0; c < in; ++c) {
      const int64_t at = few ? c * out + k : dw_panels.At(c, k);
      float sum = sums[at];
      for (int64_t part = 1; part < parts; ++part) sum += sums[part * size + at];
      dw[static_cast<size_t>(k * in + c)] = sum;
    }
  }
}

}  // namespace kindred

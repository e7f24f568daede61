#include "kernel/winograd.h"

#include <libxsmm.h>

#include <algorithm>

#include "base/error.h"
#include "base/parallel.h"

namespace kindred {
namespace {

constexpr int64_t kPositions = 36;
constexpr int64_t kPartials = 4;  // of a weight gradient: fixed, so that threads change no bit

int64_t Padded(int64_t channels) { return (channels + 7) / 8 * 8; }

int64_t Tiles(const ConvShape& shape) {
  return shape.batch * ((shape.height + 3) / 4) * ((shape.width + 3) / 4);
}

}  // namespace

// The transforms of winograd_tiles.h, in both compilations.
#define KINDRED_DECLARE_TILES(name)                                                               \
  namespace name {                                                                                \
  void InputTiles(const ConvShape&, int64_t, const float*, int64_t, int64_t, int64_t, float*);    \
  void OutputTiles(const ConvShape&, int64_t, const float*, int64_t, int64_t, int64_t, float*);   \
  void GradientTiles(const ConvShape&, int64_t, const float*, int64_t, int64_t, int64_t, float*); \
  void WeightRow(const float*, int64_t, int64_t, bool, float*, int64_t);                          \
  void WeightGradientRow(const float*, int64_t, int64_t, float*, int64_t);                        \
  }
KINDRED_DECLARE_TILES(tiles_avx2)
KINDRED_DECLARE_TILES(tiles_portable)
#undef KINDRED_DECLARE_TILES

namespace {

struct TileFunctions {
  decltype(&tiles_portable::InputTiles) input;
  decltype(&tiles_portable::OutputTiles) output;
  decltype(&tiles_portable::GradientTiles) gradient;
  decltype(&tiles_portable::WeightRow) weights;
  decltype(&tiles_portable::WeightGradientRow) weight_gradient;
};

#define KINDRED_TILE_FUNCTIONS(name)                                           \
  TileFunctions {                                                              \
    name::InputTiles, name::OutputTiles, name::GradientTiles, name::WeightRow, \
        name::WeightGradientRow                                                \
  }

TileFunctions FunctionsOf(KernelPath path) {
  return path == KernelPath::kAvx2 ? KINDRED_TILE_FUNCTIONS(tiles_avx2)
                                   : KINDRED_TILE_FUNCTIONS(tiles_portable);
}
#undef KINDRED_TILE_FUNCTIONS

// A matrix product in row-major terms: c[rows, columns] = a[rows, inner] b[inner, columns], or with
// `gradient` c += a^T b, a: [inner, rows]. By LIBXSMM, which is column-major, so that the operands
// change places; by plain loops on a CPU for which it makes no code.
class Product {
 public:
  Product(int64_t rows, int64_t columns, int64_t inner, bool gradient)
      : rows_(rows), columns_(columns), inner_(inner), gradient_(gradient) {
    const auto m = static_cast<libxsmm_blasint>(columns), n = static_cast<libxsmm_blasint>(rows),
               k = static_cast<libxsmm_blasint>(inner);
    const libxsmm_blasint lda = m, ldb = gradient ? n : k, ldc = m;
    const float alpha = 1, beta = gradient ? 1 : 0;
    const int flags = gradient ? LIBXSMM_GEMM_FLAG_TRANS_B : 0;
    kernel_ = libxsmm_smmdispatch(m, n, k, &lda, &ldb, &ldc, &alpha, &beta, &flags, nullptr);
  }

  void operator()(const float* a, const float* b, float* c) const {
    if (kernel_ != nullptr) {
      kernel_(b, a, c);
      return;
    }
    for (int64_t r = 0; r < rows_; ++r) {
      float* out = c + r * columns_;
      if (!gradient_) std::fill(out, out + columns_, 0.0f);
      for (int64_t i = 0; i < inner_; ++i) {
        const float value = gradient_ ? a[i * rows_ + r] : a[r * inner_ + i];
        for (int64_t j = 0; j < columns_; ++j) out[j] += value * b[i * columns_ + j];
      }
    }
  }

 private:
  int64_t rows_, columns_, inner_;
  bool gradient_;
  libxsmm_smmfunction kernel_;
};

// Tiles a block: what is transformed of them stays in the second-level cache where channels are
// few; where they are many, enough that a pass over the weights pays.
int64_t BlockTiles(int64_t in, int64_t out) {
  const int64_t fit = (int64_t{1} << 19) / (kPositions * (in + out) * 4);
  return std::clamp<int64_t>(fit / 8 * 8, 32, 64);
}

thread_local WinogradScratch scratch_of_thread;

// y = conv(x, u): the forward pass, and the data gradient with channels swapped.
void Convolve(const ConvShape& shape, int64_t in, int64_t out, const float* x, const float* u,
              float* y, const WinogradOptions& options) {
  const TileFunctions run = FunctionsOf(options.path);
  const int64_t padded_in = Padded(in), padded_out = Padded(out), tiles = Tiles(shape);
  const int64_t block = std::min(BlockTiles(padded_in, padded_out), (tiles + 7) / 8 * 8);
  const Product product(block, padded_out, padded_in, false);
  const int blocks = static_cast<int>((tiles + block - 1) / block);
  ParallelFor(std::clamp(options.workers, 1, blocks), blocks, [&](int, int b) {
    float* v =
        scratch_of_thread.Get(static_cast<size_t>(kPositions * block * (padded_in + padded_out)));
    float* m = v + kPositions * block * padded_in;
    const int64_t first = b * block, count = std::min(block, tiles - first);
    run.input(shape, in, x, first, count, block, v);
    for (int64_t i = 0; i < kPositions; ++i) {
      product(v + i * block * padded_in, u + i * padded_in * padded_out,
              m + i * block * padded_out);
    }
    run.output(shape, out, m, first, count, block, y);
  });
}

}  // namespace

KernelPath BestKernelPath() {
  static const KernelPath best = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
                                     ? KernelPath::kAvx2
                                     : KernelPath::kPortable;
  return best;
}

float* WinogradScratch::Get(size_t floats) {
  constexpr size_t kAlign = 64 / sizeof(float);
  if (memory_.size() < floats + kAlign) memory_ = std::vector<float>(floats + kAlign);
  const auto address = reinterpret_cast<uintptr_t>(memory_.data());
  return memory_.data() + (64 - address % 64) % 64 / sizeof(float);
}

void TransformWeights(const ConvShape& shape, std::span<const float> w, WinogradWeights& weights,
                      KernelPath path) {
  Check(static_cast<int64_t>(w.size()) == shape.out * shape.in * 9, "weights of another shape");
  const TileFunctions run = FunctionsOf(path);
  const int64_t in = Padded(shape.in), out = Padded(shape.out), size = kPositions * in * out;
  for (auto* u : {&weights.forward, &weights.data}) {
    // Rows and columns beyond the channels stay zero.
    if (static_cast<int64_t>(u->size()) != size) u->assign(static_cast<size_t>(size), 0);
  }
  for (int64_t r = 0; r < shape.in; ++r) {
    run.weights(w.data() + 9 * r, 9 * shape.in, shape.out, false, weights.forward.data() + r * out,
                in * out);
  }
  for (int64_t r = 0; r < shape.out; ++r) {
    run.weights(w.data() + 9 * shape.in * r, 9, shape.in, true, weights.data.data() + r * in,
                in * out);
  }
}

void WinogradForward(const ConvShape& shape, std::span<const float> x,
                     const WinogradWeights& weights, std::span<float> y,
                     const WinogradOptions& options) {
  Convolve(shape, shape.in, shape.out, x.data(), weights.forward.data(), y.data(), options);
}

void WinogradDataGradient(const ConvShape& shape, std::span<const float> dy,
                          const WinogradWeights& weights, std::span<float> dx,
                          const WinogradOptions& options) {
  Convolve(shape, shape.out, shape.in, dy.data(), weights.data.data(), dx.data(), options);
}

void WinogradWeightGradient(const ConvShape& shape, std::span<const float> x,
                            std::span<const float> dy, std::span<float> dw,
                            const WinogradOptions& options) {
  const TileFunctions run = FunctionsOf(options.path);
  const int64_t in = Padded(shape.in), out = Padded(shape.out), tiles = Tiles(shape);
  const int64_t block = std::min<int64_t>(in + out > 256 ? 128 : 64, (tiles + 7) / 8 * 8);
  const int64_t blocks = (tiles + block - 1) / block, size = kPositions * in * out;
  // Large gradients have few tiles: their parts would cost more than they spread.
  const int64_t parts = std::min(blocks, size > (int64_t{1} << 20) ? 1 : kPartials);
  std::vector<float> du(static_cast<size_t>(parts * size), 0);
  const Product product(in, out, block, true);
  ParallelFor(std::clamp(options.workers, 1, static_cast<int>(parts)), static_cast<int>(parts),
              [&](int, int part) {
                float* v =
                    scratch_of_thread.Get(static_cast<size_t>(kPositions * block * (in + out)));
                float* d = v + kPositions * block * in;
                float* own = du.data() + part * size;
                for (int64_t b = part; b < blocks; b += parts) {
                  const int64_t first = b * block, count = std::min(block, tiles - first);
                  run.input(shape, shape.in, x.data(), first, count, block, v);
                  run.gradient(shape, shape.out, dy.data(), first, count, block, d);
                  for (int64_t i = 0; i < kPositions; ++i) {
                    product(v + i * block * in, d + i * block * out, own + i * in * out);
                  }
                }
              });
  for (int64_t part = 1; part < parts; ++part) {
    for (int64_t i = 0; i < size; ++i)
      du[static_cast<size_t>(i)] += du[static_cast<size_t>(part * size + i)];
  }
  for (int64_t r = 0; r < shape.in; ++r) {
    run.weight_gradient(du.data() + r * out, in * out, shape.out, dw.data() + 9 * r, 9 * shape.in);
  }
}

}  // namespace kindred

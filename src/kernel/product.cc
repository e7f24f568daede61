#include "kernel/product.h"

#include <algorithm>

namespace kindred {
namespace {

libxsmm_blasint Blas(int64_t value) { return static_cast<libxsmm_blasint>(value); }

}  // namespace

void LimitLibxsmm() {
  static const bool done = [] {
    if (libxsmm_get_target_archid() > LIBXSMM_X86_AVX2) {
      libxsmm_set_target_archid(LIBXSMM_X86_AVX2);
    }
    return true;
  }();
  (void)done;
}

// LIBXSMM's matrices have columns one after the other, so that the operands change places.
Product::Product(const ProductShape& shape) : shape_(shape) {
  LimitLibxsmm();
  const libxsmm_blasint m = Blas(shape.columns), n = Blas(shape.rows), k = Blas(shape.inner),
                        lda = Blas(shape.b_step), ldb = Blas(shape.a_step),
                        ldc = Blas(shape.c_step);
  const float one = 1, beta = shape.add ? 1 : 0;
  const int flags = shape.a_transposed ? LIBXSMM_GEMM_FLAG_TRANS_B : 0;
  kernel_ = libxsmm_smmdispatch(m, n, k, &lda, &ldb, &ldc, &one, &beta, &flags, nullptr);
}

void Product::operator()(const float* a, const float* b, float* c) const {
  if (kernel_ != nullptr) {
    kernel_(b, a, c);
    return;
  }
  const int64_t step = shape_.a_transposed ? 1 : shape_.a_step,
                next = shape_.a_transposed ? shape_.a_step : 1;
  for (int64_t r = 0; r < shape_.rows; ++r) {
    float* out = c + r * shape_.c_step;
    if (!shape_.add) std::fill(out, out + shape_.columns, 0.0f);
    for (int64_t i = 0; i < shape_.inner; ++i) {
      const float value = a[r * step + i * next];
      const float* row = b + i * shape_.b_step;
      for (int64_t j = 0; j < shape_.columns; ++j) out[j] += value * row[j];
    }
  }
}

}  // namespace kindred

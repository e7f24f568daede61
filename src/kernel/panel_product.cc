#include "kernel/panel_product.h"

#include <algorithm>

#include "base/error.h"

namespace kindred {
namespace {

libxsmm_blasint Int(int64_t value) { return static_cast<libxsmm_blasint>(value); }

}  // namespace

// LIBXSMM's matrices have columns one after the other, so that the operands change places.
PanelProduct::PanelProduct(const Panels& a, const Panels& b) : a_(a), b_(b) {
  Check(a.columns == b.rows, "matrices that do not fit");
  LimitLibxsmm();
  const libxsmm_blasint m = Int(b.Width()), n = Int(a.rows), k = Int(a.Width());
  const float one = 1, zero = 0;
  const int flags = 0;
  kernel_ = libxsmm_smmdispatch_reducebatch_strd(m, n, k, m * k * Int(sizeof(float)),
                                                 n * k * Int(sizeof(float)), &m, &k, &m, &one,
                                                 &zero, &flags, nullptr);
}

void PanelProduct::operator()(const float* a, const float* b, float* c) const {
  const int64_t width = b_.Width();
  if (kernel_ != nullptr) {
    const auto count = static_cast<unsigned long long>(a_.Count());
    for (int64_t p = 0; p < b_.Count(); ++p) {
      kernel_(b + p * b_.rows * width, a, c + p * a_.rows * width, &count);
    }
    return;
  }
  for (int64_t p = 0; p < b_.Count(); ++p) {
    for (int64_t r = 0; r < a_.rows; ++r) {
      float* out = c + (p * a_.rows + r) * width;
      std::fill(out, out + width, 0.0f);
      for (int64_t i = 0; i < b_.rows; ++i) {
        const float value = a[a_.At(r, i)];
        const float* row = b + (p * b_.rows + i) * width;
        for (int64_t j = 0; j < width; ++j) out[j] += value * row[j];
      }
    }
  }
}

PanelGradientProduct::PanelGradientProduct(const Panels& a, const Panels& b, bool add)
    : a_(a),
      b_(b),
      panels_({.rows = a.Width(),
               .columns = b.Width(),
               .inner = a.rows,
               .a_step = a.Width(),
               .b_step = b.Width(),
               .c_step = b.Width(),
               .a_transposed = true,
               .add = add}) {
  Check(a.rows == b.rows, "matrices that do not fit");
}

void PanelGradientProduct::operator()(const float* a, const float* b, float* c) const {
  const int64_t width = b_.Width(), other = a_.Width();
  for (int64_t p = 0; p < b_.Count(); ++p) {
    for (int64_t q = 0; q < a_.Count(); ++q) {
      panels_(a + q * a_.rows * other, b + p * b_.rows * width,
              c + (p * a_.columns + q * other) * width);
    }
  }
}

}  // namespace kindred

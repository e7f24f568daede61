#include "kernel/panel_product.h"

#include <algorithm>

#include "base/error.h"

namespace kindred {
namespace {

libxsmm_blasint Int(int64_t value) { return static_cast<libxsmm_blasint>(value); }

// Nothing beyond AVX2, which is what has been tested; CPUs with more then give the same bits.
void LimitTarget() {
  static const bool done = [] {
    if (libxsmm_get_target_archid() > LIBXSMM_X86_AVX2) {
      libxsmm_set_target_archid(LIBXSMM_X86_AVX2);
    }
    return true;
  }();
  (void)done;
}

}  // namespace

// LIBXSMM's matrices have columns one after the other, so that the operands change places.
PanelProduct::PanelProduct(const Panels& a, const Panels& b) : a_(a), b_(b) {
  Check(a.columns == b.rows, "matrices that do not fit");
  LimitTarget();
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
    : a_(a), b_(b), add_(add) {
  Check(a.rows == b.rows, "matrices that do not fit");
  LimitTarget();
  const libxsmm_blasint m = Int(b.Width()), n = Int(a.Width()), k = Int(a.rows);
  const float one = 1, beta = add ? 1 : 0;
  const int flags = LIBXSMM_GEMM_FLAG_TRANS_B;
  kernel_ = libxsmm_smmdispatch(m, n, k, &m, &n, &m, &one, &beta, &flags, nullptr);
}

void PanelGradientProduct::operator()(const float* a, const float* b, float* c) const {
  const int64_t width = b_.Width(), other = a_.Width();
  for (int64_t p = 0; p < b_.Count(); ++p) {
    const float* b_panel = b + p * b_.rows * width;
    for (int64_t q = 0; q < a_.Count(); ++q) {
      const float* a_panel = a + q * a_.rows * other;
      float* out = c + (p * a_.columns + q * other) * width;
      if (kernel_ != nullptr) {
        kernel_(b_panel, a_panel, out);
        continue;
      }
      for (int64_t r = 0; r < other; ++r) {
        float* row = out + r * width;
        if (!add_) std::fill(row, row + width, 0.0f);
        for (int64_t i = 0; i < a_.rows; ++i) {
          const float value = a_panel[i * other + r];
          for (int64_t j = 0; j < width; ++j) row[j] += value * b_panel[i * width + j];
        }
      }
    }
  }
}

}  // namespace kindred

// Matrix products on panels (kernel/panels.h), by LIBXSMM.
#pragma once

#include <libxsmm.h>

#include "kernel/panels.h"
#include "kernel/product.h"

namespace kindred {

// c = a b, each in panels: a [rows, inner], b [inner, columns].
class PanelProduct {
 public:
  PanelProduct(const Panels& a, const Panels& b);
  void operator()(const float* a, const float* b, float* c) const;

 private:
  Panels a_, b_;
  libxsmm_smmfunction_reducebatch_strd kernel_;  // null: LIBXSMM makes no code for this CPU
};

// c += a^T b, or c = a^T b: a [inner, rows], b [inner, columns].
class PanelGradientProduct {
 public:
  PanelGradientProduct(const Panels& a, const Panels& b, bool add);
  void operator()(const float* a, const float* b, float* c) const;

 private:
  Panels a_, b_;
  Product panels_;  // of one panel each
};

}  // namespace kindred

// Between thin_conv.cc and its loops, which are compiled twice.
#pragma once

#include <cstdint>

namespace kindred {

// A row of y and the three rows of x around it, `line` floats apart, with a pixel of zeros on
// either side.
struct ThinRow {
  const float* x;
  int64_t line, width, in, out;
};

// w and dw: [3, 3 in, out]. y is overwritten; to dw is added.
#define KINDRED_DECLARE_THIN(name)                                \
  namespace name {                                                \
  void ForwardRow(const ThinRow& row, const float* w, float* y);  \
  void WeightRow(const ThinRow& row, const float* dy, float* dw); \
  }
KINDRED_DECLARE_THIN(thin_avx2)
KINDRED_DECLARE_THIN(thin_portable)
#undef KINDRED_DECLARE_THIN

}  // namespace kindred

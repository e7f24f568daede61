// A product of small matrices, by LIBXSMM.
#pragma once

#include <libxsmm.h>

#include <cstdint>

namespace kindred {

// c = a b, or c += a b: a [rows, inner], b [inner, columns], each with its rows `..._step` floats
// apart; a may be stored as its transpose, [inner, rows].
struct ProductShape {
  int64_t rows, columns, inner;
  int64_t a_step, b_step, c_step;
  bool a_transposed = false, add = false;
};

class Product {
 public:
  explicit Product(const ProductShape& shape);
  void operator()(const float* a, const float* b, float* c) const;

 private:
  ProductShape shape_;
  libxsmm_smmfunction kernel_;  // null: LIBXSMM makes no code for this CPU
};

// To be called before LIBXSMM is asked for code: nothing beyond AVX2, which is what has been
// tested. CPUs with more then give the same bits.
void LimitLibxsmm();

}  // namespace kindred

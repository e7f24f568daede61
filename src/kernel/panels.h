// Matrices in panels of columns, the layout that the products of kernel/ read in its order.
#pragma once

#include <cstdint>

#include "kernel/lanes.h"

namespace kindred {

// A matrix lies as [columns / panel, rows, panel]: the rows of a panel follow each other, so that a
// product walks through memory whatever the number of columns. Several such matrices of one shape
// lie `position` floats apart: a cache line more than one has, so that the same place of all of
// them does not fall into one cache set.
struct Panels {
  int64_t rows, columns;
  int shift;  // log2 of a panel's columns: 32, or 16 or 8 where that does not divide
  int64_t position;

  Panels(int64_t of_rows, int64_t of_columns)
      : rows(of_rows),
        columns((of_columns + kLanes - 1) / kLanes * kLanes),
        shift(columns % 32 == 0   ? 5
              : columns % 16 == 0 ? 4
                                  : 3),
        position(rows * columns + 16) {}

  KINDRED_INLINE int64_t Width() const { return int64_t{1} << shift; }
  KINDRED_INLINE int64_t Count() const { return columns >> shift; }

  // Where a value lies.
  KINDRED_INLINE int64_t At(int64_t row, int64_t column) const {
    return ((column >> shift) * rows + row) * Width() + (column & (Width() - 1));
  }
};

}  // namespace kindred

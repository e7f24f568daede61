// What a convolution works on, channels last.
#pragma once

#include <cstdint>

namespace kindred {

// x: [batch, height, width, in], w: [out, in, size, size].
struct ConvShape {
  int64_t batch = 1;
  int64_t height = 1;
  int64_t width = 1;
  int64_t in = 1;
  int64_t out = 1;
};

// A window of size x size (odd) with a border of size / 2 zeros, moved by `stride`: y is [batch,
// ceil(height / stride), ceil(width / stride), out].
struct Window {
  int64_t size = 3;
  int64_t stride = 1;
};

}  // namespace kindred

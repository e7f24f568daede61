// What a 3x3 convolution works on: channels last, stride 1, a border of one zero.
#pragma once

#include <cstdint>

namespace kindred {

// x: [batch, height, width, in], y: [batch, height, width, out], w: [out, in, 3, 3].
struct ConvShape {
  int64_t batch = 1;
  int64_t height = 1;
  int64_t width = 1;
  int64_t in = 1;
  int64_t out = 1;
};

}  // namespace kindred

#include "kernel/scratch.h"

#include <cstdint>

namespace kindred {

float* Scratch::Get(size_t floats) {
  constexpr size_t kAlign = 64 / sizeof(float);
  if (memory_.size() < floats + kAlign) {
    memory_ = {};  // first, so that both are never held
    memory_.resize(floats + kAlign);
  }
  const auto address = reinterpret_cast<uintptr_t>(memory_.data());
  return memory_.data() + (64 - address % 64) % 64 / sizeof(float);
}

}  // namespace kindred

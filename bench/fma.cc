// How a pure multiply-add loop scales from one core to two: what nothing on this machine can beat.
#include <fmt/format.h>

#include "bench/fma.h"

int main() {
  const double one = kindred::FmaRate(1, 1), two = kindred::FmaRate(2, 1);
  fmt::print("{:.4f}\n", two / one);
}

// A library of another build, for tests.
#include "command/learning.h"

extern "C" const kindred::Learning* KindredLearning() {
  static constexpr kindred::Learning kTable = {.build = "another"};
  return &kTable;
}

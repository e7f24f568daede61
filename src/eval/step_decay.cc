#include "eval/step_decay.h"

namespace kindred {

double StepDecay(int epoch, int epochs, double factor) {
  if (10 * epoch >= 8 * epochs) return factor * factor;
  return 10 * epoch >= 6 * epochs ? factor : 1;
}

}  // namespace kindred

// A learning rate that falls in two steps.
#pragma once

namespace kindred {

// What the rate of an epoch is multiplied by: 1, from 60 % of the epochs on `factor`, from 80 % on
// its square. A single epoch keeps the whole rate.
double StepDecay(int epoch, int epochs, double factor);

}  // namespace kindred

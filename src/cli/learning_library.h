// The library of commands that learn, loaded on demand.
#pragma once

#include "command/learning.h"

namespace kindred {

// Pins the numeric libraries' kernels and loads the library from beside the program, or from
// ../lib/kindred. Throws an internal error that says where it was looked for.
const Learning& LoadLearning();

// Whether the library has been loaded.
bool LearningIsLoaded();

}  // namespace kindred

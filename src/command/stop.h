// Ctrl-C and kill: commands that run long end in order.
#pragma once

#include <atomic>

namespace kindred {

// From now on the first SIGINT or SIGTERM sets the flag that this returns; the second ends the
// program. Signals that were ignored stay so.
const std::atomic<bool>& StopOnSignals();

}  // namespace kindred

// How long work ends when the user stops the program.
#pragma once

namespace kindred {

// Thrown where work that a signal stopped is left; what was saved stays. Caught by main alone, and
// by what must end other processes too.
struct Interrupted {};

constexpr int kStoppedBySignal = 130;  // exit code of the program then, what shells call it

}  // namespace kindred

// One thread of computation in the libraries below us.
#pragma once

namespace kindred {

// Tells LibTorch and OpenBLAS to compute with one thread: their number changes the bits of results.
// LibTorch's acts on the calling thread: call it first in each thread that computes.
void UseOneThread();

}  // namespace kindred

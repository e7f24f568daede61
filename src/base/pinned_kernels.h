// Which code the numeric libraries below us run.
//
// OpenBLAS, ATen, oneDNN and LIBXSMM choose their kernels by the CPU that they find, or by what the
// environment says, and each kernel rounds in its own way. Pinned, they take the same ones on every
// x86-64 CPU with AVX2 and FMA: a run's digest does not depend on the machine.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kindred {

// Whether this CPU has AVX2 and FMA. Without them the libraries are pinned to code that every
// x86-64 CPU has, and digests differ.
bool HasAvx2();

// The variables that pin the libraries, for a CPU with or without AVX2.
std::vector<std::pair<std::string, std::string>> PinnedVariables(bool avx2);

// Whether a variable of the environment is one of those libraries' own: all are removed.
bool TunesALibrary(std::string_view name);

// glibc's tunables without those that choose libm's code by CPU (glibc.cpu.*).
std::string WithoutCpuTunables(std::string_view tunables);

// glibc reads its tunables when a program starts: where GLIBC_TUNABLES chooses libm's code, the
// program is started again without that part. First thing in main.
void RestartWithoutCpuTunables(char** argv);

// Sets this process's environment so that libraries that are loaded from now on are pinned. Call it
// before any of them is loaded and before threads start.
void PinKernels();

// What this process was pinned to, in a few words; "not pinned" before PinKernels().
std::string PinnedTo();

}  // namespace kindred

// Compiled for AVX2 and FMA; called only where the CPU has them.
#define KINDRED_THIN thin_avx2
#include "kernel/thin_conv_loops.h"

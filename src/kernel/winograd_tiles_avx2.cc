// Compiled for AVX2 and FMA; called only where the CPU has them.
#define KINDRED_TILES tiles_avx2
#include "kernel/winograd_transforms.h"

// Compiled for any x86-64.
#define KINDRED_THIN thin_portable
#include "kernel/thin_conv_loops.h"

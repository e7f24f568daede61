// Compiled for any x86-64.
#define KINDRED_TILES tiles_portable
#include "kernel/winograd_transforms.h"

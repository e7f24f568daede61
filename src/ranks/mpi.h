// The ranks of an MPI job: `mpirun -n 64 kindred train ...`, or srun.
#pragma once

#include <memory>

#include "ranks/ranks.h"

namespace kindred {

// Whether this program can run on MPI at all.
bool HasMpi();

// The job that this process is a rank of; null when no launcher started it. Throws a usage error
// when one did and the program was built without MPI. Not twice in a process.
std::unique_ptr<Ranks> OpenRanks();

}  // namespace kindred

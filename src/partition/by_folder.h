// By folder: a client a top-level folder, the way images lie with their owners.
#pragma once

#include "partition/partition.h"

namespace kindred {

// partition.clients must be 0 or the number of folders.
Partition DealByFolder(const PartitionInput& input);

}  // namespace kindred

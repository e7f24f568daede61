// IID: the images are shuffled and dealt in parts that differ by one image at most.
#pragma once

#include "partition/partition.h"

namespace kindred {

Partition DealIid(const PartitionInput& input);

}  // namespace kindred

// Dirichlet(alpha): each class is spread over the clients by shares drawn from Dir(alpha, ...,
// alpha).
#pragma once

#include "partition/partition.h"

namespace kindred {

// Small alpha: few clients own most of a class; large: nearly IID. Drawn again until every client
// owns at least min(10, images / (10 clients)) images and one.
Partition DealDirichlet(const PartitionInput& input);

}  // namespace kindred

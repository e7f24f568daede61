// Which of several processes trains a client.
#pragma once

#include <vector>

#include "partition/partition.h"

namespace kindred {

// The rank of each client: the one with the most images first, each to the rank that has the fewest
// so far. A client stays where it was dealt to: its state is there.
std::vector<int> DealClients(const Partition& partition, int ranks);

}  // namespace kindred

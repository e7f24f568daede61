// Which of several processes trains a client.
#pragma once

#include <vector>

#include "partition/partition.h"

namespace kindred {

// Which rank trains which client, by client.
using RankOf = std::vector<int>;

// The rank of each client: the one with the most images first, each to the rank that has the fewest
// so far. A client stays where it was dealt to: its state is there.
RankOf DealClients(const Partition& partition, int ranks);

}  // namespace kindred

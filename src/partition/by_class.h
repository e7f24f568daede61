// The paper's non-IID settings: a client owns a few whole classes (setting 1), or its share of a
// few classes that others own too (setting 2).
#pragma once

#include "partition/partition.h"

namespace kindred {

// Disjoint: each class on one client. 5 clients; classes / clients classes each.
Partition DealNonIid1(const PartitionInput& input);

// Overlapping: each class on clients x classes_per_client / classes clients, its images cut into
// equal parts. 10 clients, a fifth of the classes each: every class on two.
Partition DealNonIid2(const PartitionInput& input);

// One class on each client, as many clients as classes: setting 1 at its hardest.
Partition DealOneClass(const PartitionInput& input);

// The classes of each client: `per_client` different ones, every class on equally many clients.
// clients x per_client must be a multiple of `classes`. Drawn from the seed.
std::vector<std::vector<int>> DealClasses(int classes, int clients, int per_client, uint64_t seed);

}  // namespace kindred

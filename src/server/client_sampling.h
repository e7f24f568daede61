// Which clients take part in a round.
#pragma once

#include <cstdint>
#include <vector>

namespace kindred {

// beta C of C clients, rounded, at least one.
int ClientsInRound(int clients, double participation);

// So many of them, drawn anew each round, in rising order (paper, Sect. 2).
std::vector<int> SampleClients(int clients, double participation, int round, uint64_t seed);

}  // namespace kindred

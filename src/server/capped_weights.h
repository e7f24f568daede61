// How much each client of a round counts.
#pragma once

#include <cstdint>
#include <map>
#include <set>

namespace kindred {

// The largest share of a round's weight, above 0; 1: no limit.
struct ShareLimits {
  double any = 1;      // of any client
  double claimed = 1;  // of a client whose number of images is its own word
};

// |D_c| by client, the largest cut down to one number so that none is more than its share of their
// sum: first those of `claims` among each other, then all. When no cut can do that (share x clients
// <= 1), all are equal.
std::map<int, int64_t> CappedWeights(const std::map<int, int64_t>& images,
                                     const ShareLimits& limits, const std::set<int>& claims = {});

// So many clients can be cut at most, and those that can be are among the so many largest.
int MostCut(const ShareLimits& limits);

}  // namespace kindred

// How much each client of a round counts.
#pragma once

#include <cstdint>
#include <map>

namespace kindred {

// |D_c| by client, the largest cut down to one number so that none is more than `most_share` of
// their sum; when no cut can do that (most_share x clients <= 1), all are equal. Should some of the
// clients not report, the others' shares are larger.
std::map<int, int64_t> CappedWeights(const std::map<int, int64_t>& images, double most_share);

}  // namespace kindred

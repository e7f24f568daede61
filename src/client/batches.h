// The order in which a client goes through its images.
#pragma once

#include <vector>

#include "base/rng.h"

namespace kindred {

// 0, ..., count - 1 in random order, cut into batches. The last short one is dropped unless it is
// the only one.
std::vector<std::vector<int>> EpochBatches(int count, int batch, Rng& rng);

// The same with nothing dropped: what is left over joins the last batch.
std::vector<std::vector<int>> WholeEpochBatches(int count, int batch, Rng& rng);

}  // namespace kindred

#include "partition/iid.h"

#include "base/rng.h"

namespace kindred {

Partition DealIid(const PartitionInput& input) {
  const int clients = input.options.clients > 0 ? input.options.clients : 5;
  Rng rng({.seed = input.options.seed, .purpose = Purpose::kPartition});
  std::vector<std::vector<int>> dealt(static_cast<size_t>(clients));
  size_t next = 0;
  for (const int i : rng.Permutation(input.images)) {
    dealt[next].push_back(i);
    next = (next + 1) % dealt.size();
  }
  return {.clients = std::move(dealt)};
}

}  // namespace kindred

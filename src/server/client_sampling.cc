#include "server/client_sampling.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"

namespace kindred {

std::vector<int> SampleClients(int clients, double participation, int round, uint64_t seed) {
  Rng rng(
      {.seed = seed, .purpose = Purpose::kParticipation, .round = static_cast<uint32_t>(round)});
  auto chosen = rng.Permutation(clients);
  const auto wanted = std::llround(participation * clients);
  chosen.resize(static_cast<size_t>(std::clamp<long long>(wanted, 1, clients)));
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace kindred

#include "server/client_sampling.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"

namespace kindred {

int ClientsInRound(int clients, double participation) {
  return static_cast<int>(std::clamp<long long>(std::llround(participation * clients), 1, clients));
}

std::vector<int> SampleClients(int clients, double participation, int round, uint64_t seed) {
  Rng rng(
      {.seed = seed, .purpose = Purpose::kParticipation, .round = static_cast<uint32_t>(round)});
  auto chosen = rng.Permutation(clients);
  chosen.resize(static_cast<size_t>(ClientsInRound(clients, participation)));
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace kindred

// What one rank of several knows of a round, and tensors that all ranks are to have.
#pragma once

#include <map>

#include "base/ranks.h"
#include "transport/transport.h"

namespace kindred {

// The updates of a rank's clients, without their models.
struct RankShare {
  std::map<int, Arrival> arrivals;
  std::map<int, double> norms;  // |theta_c - theta|
  Traffic traffic;
  double cpu_seconds = 0;
};

Bytes BytesOf(const RankShare& share);
RankShare RankShareIn(const Bytes& bytes);

// Rank 0's tensors become everybody's. The others bring tensors of the same names and shapes.
void BroadcastTensors(Ranks& ranks, NamedTensors& tensors);

}  // namespace kindred

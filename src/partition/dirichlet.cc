#include "partition/dirichlet.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/error.h"
#include "base/rng.h"

namespace kindred {
namespace {

constexpr uint32_t kTries = 1000;

// A point of the simplex drawn from Dir(alpha, ..., alpha). In logarithms: for small alpha a gamma
// variate underflows. Gamma(a) = Gamma(a + 1) U^(1/a).
std::vector<double> DirichletShares(size_t size, double alpha, Rng& rng) {
  std::gamma_distribution<double> gamma(alpha + 1);
  std::vector<double> logs(size);
  for (double& value : logs) {
    value = std::log(gamma(rng)) + std::log1p(-rng.Uniform()) / alpha;
    gamma.reset();
  }
  const double largest = *std::max_element(logs.begin(), logs.end());
  double sum = 0;
  for (double& value : logs) sum += value = std::exp(value - largest);
  for (double& value : logs) value /= sum;
  return logs;
}

std::vector<std::vector<int>> Draw(const PartitionInput& input, size_t clients, uint32_t attempt) {
  std::vector<std::vector<int>> members(static_cast<size_t>(input.classes));
  for (int i = 0; i < input.images; ++i) {
    members[static_cast<size_t>(input.labels[static_cast<size_t>(i)])].push_back(i);
  }
  std::vector<std::vector<int>> dealt(clients);
  for (size_t l = 0; l < members.size(); ++l) {
    Rng rng({.seed = input.options.seed,
             .purpose = Purpose::kPartition,
             .epoch = attempt,
             .sample = l});
    rng.Shuffle(std::span(members[l]));
    const auto shares = DirichletShares(clients, input.options.alpha, rng);
    double upto = 0;
    size_t next = 0;
    for (size_t c = 0; c < clients; ++c) {
      upto += shares[c];
      const auto end =
          c + 1 == clients
              ? members[l].size()
              : std::min(members[l].size(), static_cast<size_t>(std::llround(
                                                upto * static_cast<double>(members[l].size()))));
      for (; next < end; ++next) dealt[c].push_back(members[l][next]);
    }
  }
  return dealt;
}

}  // namespace

Partition DealDirichlet(const PartitionInput& input) {
  const int clients = input.options.clients > 0 ? input.options.clients : 5;
  const size_t least = static_cast<size_t>(std::clamp(input.images / (10 * clients), 1, 10));
  for (uint32_t attempt = 0; attempt < kTries; ++attempt) {
    auto dealt = Draw(input, static_cast<size_t>(clients), attempt);
    if (std::all_of(dealt.begin(), dealt.end(),
                    [&](const auto& own) { return own.size() >= least; })) {
      return {.clients = std::move(dealt)};
    }
  }
  throw UsageError(
      "partition dirichlet: in {} draws with alpha {} some of {} clients always owned fewer than "
      "{} "
      "of {} images; raise partition.alpha or take fewer clients",
      kTries, input.options.alpha, clients, least, input.images);
}

}  // namespace kindred

#include "server/capped_weights.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace kindred {
namespace {

// The largest number t with t <= share x (fixed + sum of min(size, t)): with the k largest cut to
// it, t = share x (fixed + rest) / (1 - k share).
int64_t CapOf(std::vector<int64_t> sizes, double fixed, double share) {
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  if (fixed == 0 && share * static_cast<double>(sizes.size()) <= 1) return sizes.back();
  double rest = fixed;
  for (const int64_t size : sizes) rest += static_cast<double>(size);
  for (size_t k = 0; k <= sizes.size(); ++k) {
    const double left = 1 - static_cast<double>(k) * share;
    if (left <= 0) break;
    const double cap = share * rest / left * (1 + 1e-12);  // 2 is no less for being 2 - 2^-52
    if (k == sizes.size() || cap >= static_cast<double>(sizes[k])) {
      return k == 0 ? sizes[0] : std::max<int64_t>(1, std::llround(std::floor(cap)));
    }
    rest -= static_cast<double>(sizes[k]);
  }
  return sizes.back();
}

// Cuts those of the clients that `may_cut` names.
void Cut(std::map<int, int64_t>& weights, double share,
         const std::function<bool(int client)>& may_cut) {
  if (share >= 1) return;
  std::vector<int64_t> sizes;
  double fixed = 0;
  for (const auto& [client, weight] : weights) {
    if (may_cut(client)) {
      sizes.push_back(weight);
    } else {
      fixed += static_cast<double>(weight);
    }
  }
  if (sizes.empty()) return;
  const int64_t cap = CapOf(std::move(sizes), fixed, share);
  for (auto& [client, weight] : weights) {
    if (may_cut(client)) weight = std::min(weight, cap);
  }
}

int MostCut(double share) { return share >= 1 ? 0 : static_cast<int>(1 / share * (1 + 1e-12)); }

}  // namespace

std::map<int, int64_t> CappedWeights(const std::map<int, int64_t>& images,
                                     const ShareLimits& limits, const std::set<int>& claims) {
  std::map<int, int64_t> weights = images;
  Cut(weights, limits.claimed, [&](int client) { return claims.contains(client); });
  Cut(weights, limits.any, [](int) { return true; });
  return weights;
}

int MostCut(const ShareLimits& limits) { return MostCut(limits.any) + MostCut(limits.claimed); }

}  // namespace kindred

#include "server/capped_weights.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace kindred {
namespace {

// The largest number t with t <= share x sum of min(size, t): with the k largest cut to it,
// t = share x rest / (1 - k share).
int64_t CapOf(std::vector<int64_t> sizes, double share) {
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  if (share * static_cast<double>(sizes.size()) <= 1) return sizes.back();
  double rest = 0;
  for (const int64_t size : sizes) rest += static_cast<double>(size);
  for (size_t k = 0; k < sizes.size(); ++k) {
    const double left = 1 - static_cast<double>(k) * share;
    if (left <= 0) break;
    const double cap = share * rest / left * (1 + 1e-12);  // 2 is no less for being 2 - 2^-52
    if (cap >= static_cast<double>(sizes[k])) {
      return k == 0 ? sizes[0] : std::max<int64_t>(1, std::llround(std::floor(cap)));
    }
    rest -= static_cast<double>(sizes[k]);
  }
  return sizes.back();
}

}  // namespace

std::map<int, int64_t> CappedWeights(const std::map<int, int64_t>& images, double most_share) {
  std::map<int, int64_t> weights = images;
  if (images.empty() || most_share >= 1) return weights;
  std::vector<int64_t> sizes;
  for (const auto& [client, size] : images) sizes.push_back(size);
  const int64_t cap = CapOf(std::move(sizes), most_share);
  for (auto& [client, weight] : weights) weight = std::min(weight, cap);
  return weights;
}

}  // namespace kindred

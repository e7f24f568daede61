#include "ranks/deal.h"

#include <algorithm>
#include <numeric>

namespace kindred {

RankOf DealClients(const Partition& partition, int ranks) {
  std::vector<size_t> order(partition.clients.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return partition.clients[a].size() > partition.clients[b].size();
  });
  std::vector<size_t> images(static_cast<size_t>(ranks), 0);
  RankOf rank_of(order.size());
  for (const size_t client : order) {
    const auto least = std::min_element(images.begin(), images.end());
    *least += partition.clients[client].size();
    rank_of[client] = static_cast<int>(least - images.begin());
  }
  return rank_of;
}

}  // namespace kindred

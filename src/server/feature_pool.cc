#include "server/feature_pool.h"

#include <torch/torch.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "base/error.h"
#include "base/rng.h"

namespace kindred {

void FeaturePool::Replace(int client, const at::Tensor& rows, int round) {
  entries_[client] = {rows.contiguous(), round};
}

void FeaturePool::DropOld(int round, int max_age) {
  std::erase_if(entries_, [&](const auto& entry) { return round - entry.second.round > max_age; });
}

RemoteFeatures FeaturePool::RemoteFor(int client, int round, int max_remote, uint64_t seed) const {
  const auto own = entries_.find(client);
  const int64_t all = Rows() - (own == entries_.end() ? 0 : own->second.rows.size(0));
  const int64_t wanted = max_remote == 0 ? all : std::min<int64_t>(max_remote, all);
  Rng rng({.seed = seed,
           .purpose = Purpose::kRemote,
           .round = static_cast<uint32_t>(round),
           .client = static_cast<uint32_t>(client)});
  std::vector<int64_t> chosen(static_cast<size_t>(all));  // rows of the others, counted through
  std::iota(chosen.begin(), chosen.end(), 0);
  if (wanted < all) chosen = rng.Sample(all, wanted);
  RemoteFeatures remote;
  std::vector<at::Tensor> parts;
  auto next = chosen.begin();
  int64_t first = 0;
  for (const auto& [owner, entry] : entries_) {
    if (owner == client) continue;
    std::vector<int64_t> rows;
    for (; next != chosen.end() && *next < first + entry.rows.size(0); ++next) {
      rows.push_back(*next - first);
      remote.origins.push_back({owner, entry.round, static_cast<int>(rows.back())});
    }
    first += entry.rows.size(0);
    parts.push_back(entry.rows.index_select(0, torch::tensor(rows, torch::kInt64)));
  }
  if (!parts.empty()) remote.rows = torch::cat(parts);
  return remote;
}

std::map<int, at::Tensor> FeaturePool::All() const {
  std::map<int, at::Tensor> all;
  for (const auto& [client, entry] : entries_) all.emplace(client, entry.rows);
  return all;
}

int64_t FeaturePool::Rows() const {
  int64_t rows = 0;
  for (const auto& [client, entry] : entries_) rows += entry.rows.size(0);
  return rows;
}

NamedTensors FeaturePool::ToTensors() const {
  NamedTensors tensors;
  for (const auto& [client, entry] : entries_) {
    tensors.emplace(fmt::format("rows/{}", client), entry.rows);
    tensors.emplace(fmt::format("round/{}", client), torch::full({1}, entry.round, torch::kInt64));
  }
  return tensors;
}

FeaturePool FeaturePool::FromTensors(const NamedTensors& tensors) {
  FeaturePool pool;
  const NamedTensors rounds = Under(tensors, "round");
  for (const auto& [name, rows] : Under(tensors, "rows")) {
    int client = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), client);
    const auto round = rounds.find(name);
    if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size() || rows.dim() != 2 ||
        round == rounds.end() || round->second.numel() != 1 ||
        round->second.scalar_type() != torch::kInt64) {
      throw DataError("a feature pool that cannot be read: {}", Printable(name));
    }
    pool.Replace(client, rows, static_cast<int>(round->second.item<int64_t>()));
  }
  return pool;
}

}  // namespace kindred

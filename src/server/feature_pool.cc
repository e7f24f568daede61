#include "server/feature_pool.h"

#include <torch/torch.h>

#include <charconv>

#include "base/error.h"
#include "base/rng.h"

namespace kindred {

void Bind(Config& config, FeatureOptions& options) {
  config.Bind("features.max_age", &options.max_age,
              "rounds after which a client's shared features are dropped",
              {.least = 1, .most = 1 << 20});
  config.Bind("features.max_remote", &options.max_remote,
              "rows of others' features that a client is sent at most; 0: all",
              {.least = 0, .most = 1 << 30});
}

void FeaturePool::Replace(int client, at::Tensor rows, int round) {
  entries_[client] = {std::move(rows), round};
}

void FeaturePool::DropOld(int round, int max_age) {
  std::erase_if(entries_, [&](const auto& entry) { return round - entry.second.round > max_age; });
}

RemoteBank FeaturePool::RemoteFor(int client, int round, int max_remote, uint64_t seed) const {
  RemoteBank remote;
  std::vector<at::Tensor> parts;
  for (const auto& [owner, entry] : entries_) {
    if (owner == client) continue;
    parts.push_back(entry.rows);
    for (int row = 0; row < entry.rows.size(0); ++row) {
      remote.origins.push_back({owner, entry.round, row});
    }
  }
  if (parts.empty()) return remote;
  remote.rows = torch::cat(parts);
  if (max_remote == 0 || remote.rows.size(0) <= max_remote) return remote;
  Rng rng({.seed = seed,
           .purpose = Purpose::kRemote,
           .round = static_cast<uint32_t>(round),
           .client = static_cast<uint32_t>(client)});
  const auto chosen = rng.Sample(remote.rows.size(0), max_remote);
  RemoteBank sample;
  sample.rows = remote.rows.index_select(0, torch::tensor(chosen, torch::kInt64));
  for (const int64_t row : chosen) {
    sample.origins.push_back(remote.origins[static_cast<size_t>(row)]);
  }
  return sample;
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
    if (parsed.ptr != name.data() + name.size() || round == rounds.end() ||
        round->second.numel() != 1 || round->second.scalar_type() != torch::kInt64) {
      throw DataError("a feature pool that cannot be read: {}", Printable(name));
    }
    pool.Replace(client, rows, static_cast<int>(round->second.item<int64_t>()));
  }
  return pool;
}

}  // namespace kindred

#include "client/local_store.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "model/safetensors.h"

namespace kindred {
namespace {

constexpr uint64_t kMostState = 1ull << 34;

}  // namespace

LocalStore::~LocalStore() {
  std::error_code ignored;
  for (const auto& [client, slot] : slots_) {
    std::filesystem::remove(FileOf(client), ignored);
  }
}

std::filesystem::path LocalStore::FileOf(int client) const {
  return folder_ / fmt::format("client-{}.safetensors", client);
}

NamedTensors LocalStore::Get(int client, const std::function<NamedTensors()>& fresh) {
  const std::lock_guard lock(mutex_);
  const auto at = slots_.find(client);
  if (at == slots_.end()) return fresh();
  if (at->second.spilled) {
    return Read(client);
  }
  if (at->second.bytes > 0) used_.splice(used_.end(), used_, at->second.use);
  return Clone(at->second.state);
}

void LocalStore::With(int client, const std::function<void(const NamedTensors&)>& look) const {
  const std::lock_guard lock(mutex_);
  const Slot& slot = slots_.at(client);
  look(slot.spilled ? Read(client) : slot.state);
}

NamedTensors LocalStore::Read(int client) const {
  const auto path = FileOf(client);
  return ParseSafetensors(ReadFile(path, kMostState), path.string()).tensors;
}

void LocalStore::Put(int client, NamedTensors state) {
  const std::lock_guard lock(mutex_);
  Slot& slot = slots_[client];
  if (slot.bytes > 0 && !slot.spilled) {
    in_memory_ -= slot.bytes;
    used_.erase(slot.use);
  }
  slot.bytes = BytesOf(state);
  slot.state = std::move(state);
  slot.spilled = false;
  if (slot.bytes == 0) return;
  slot.use = used_.insert(used_.end(), client);
  in_memory_ += slot.bytes;
  SpillDownTo(limit_);
}

void LocalStore::SpillDownTo(uint64_t limit) try {
  while (in_memory_ > limit && !used_.empty()) {
    const int client = used_.front();
    Slot& slot = slots_.at(client);
    MakeFolder(folder_);
    WriteFileAtomically(FileOf(client), SerializeSafetensors({.tensors = slot.state}));
    slot.state.clear();
    slot.spilled = true;
    in_memory_ -= slot.bytes;
    used_.pop_front();
  }
} catch (const Error& error) {  // they stay in memory
  spdlog::warn("clients' states could not be moved to disk: {}", error.what());
}

std::vector<int> LocalStore::Clients() const {
  const std::lock_guard lock(mutex_);
  std::vector<int> clients;
  for (const auto& [client, slot] : slots_) clients.push_back(client);
  return clients;
}

}  // namespace kindred

#include "federation/connections.h"

#include <fmt/format.h>

#include "transport/refusal.h"

namespace kindred {
namespace {

constexpr uint64_t kFrames = 64;  // of HTTP/2 and TLS around a small message
constexpr auto kTimeToRead = std::chrono::seconds(2);

}  // namespace

void Connections::Open(const Peer& peer) {
  Forget(peer);
  const std::lock_guard lock(mutex_);
  open_[peer] = {};
}

void Connections::Hear(const Peer& peer) {
  const std::lock_guard lock(mutex_);
  const auto at = open_.find(peer);
  if (at != open_.end()) at->second.heard = true;
}

void Connections::Assign(const Peer& peer, int client) {
  const std::lock_guard lock(mutex_);
  const auto at = open_.find(peer);
  if (at == open_.end() || at->second.client == client) return;
  int& count = count_[client];
  if (count >= most_) {
    throw Refused{Refusal::kConnections,
                  fmt::format("this client has {} connections already (server.max_per_client); "
                              "close them, or wait until they have ended",
                              count)};
  }
  at->second.client = client;  // a connection has one certificate, so it had no other
  ++count;
}

void Connections::Account(const Peer& peer, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto at = open_.find(peer);
  if (at != open_.end()) at->second.bytes += bytes + bytes / 8 + kFrames;
}

uint64_t Connections::Accounted(const Peer& peer) const {
  const std::lock_guard lock(mutex_);
  const auto at = open_.find(peer);
  return at == open_.end() ? 0 : at->second.bytes;
}

bool Connections::Forget(const Peer& peer) {
  const std::lock_guard lock(mutex_);
  closing_.erase(peer);
  const auto ended = open_.extract(peer);
  if (!ended) return false;
  const auto count = count_.find(ended.mapped().client);
  if (count != count_.end() && --count->second == 0) count_.erase(count);
  return ended.mapped().heard;
}

void Connections::CloseSoon(const Peer& peer, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (open_.contains(peer)) closing_.try_emplace(peer, now + kTimeToRead);
}

std::vector<Peer> Connections::Due(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  std::vector<Peer> due;
  std::erase_if(closing_, [&](const auto& entry) {
    if (entry.second > now) return false;
    due.push_back(entry.first);
    return true;
  });
  return due;
}

}  // namespace kindred

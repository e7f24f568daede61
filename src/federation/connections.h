// Which client is at the other end of each connection: how many it has, what they may bring, which
// are to be closed.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "federation/peer.h"

namespace kindred {

// Any thread. Knows the connections between Open and Forget; a call that comes to be handled when
// its connection has ended changes nothing.
class Connections {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Connections(int most_per_client) : most_(most_per_client) {}

  // It was accepted.
  void Open(const Peer& peer);
  // A call came over it, whatever becomes of it.
  void Hear(const Peer& peer);
  // The call is this client's. Throws Refused when the client has too many connections.
  void Assign(const Peer& peer, int client);
  // A message of so many bytes came over it, with some more for its frames and records.
  void Account(const Peer& peer, uint64_t bytes);
  // Bytes of all its messages so far, 0 before the first.
  uint64_t Accounted(const Peer& peer) const;

  // It has ended. Whether it made a call.
  bool Forget(const Peer& peer);

  // It is to be closed, once its client has had time to read why.
  void CloseSoon(const Peer& peer, Clock::time_point now);
  // Those whose time has come; each is given once.
  std::vector<Peer> Due(Clock::time_point now);

 private:
  struct Connection {
    bool heard = false;
    int client = -1;
    uint64_t bytes = 0;
  };

  const int most_;
  mutable std::mutex mutex_;  // of all below
  std::map<Peer, Connection> open_;
  std::map<int, int> count_;  // by client
  std::map<Peer, Clock::time_point> closing_;
};

}  // namespace kindred

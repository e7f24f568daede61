// A listener of our own, which hands connections to a server that did not accept them itself.
//
// gRPC 1.51 accepts nothing any more, for good, once accept() has failed for want of descriptors
// (CVE-2023-4785): anyone who can connect could silence a coordinator. This one bounds the
// connections, and goes on when descriptors run out.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "federation/peer.h"
#include "transport/refusal.h"

namespace kindred {

struct AcceptLimits {
  int total = 1024;                // connections at once; at most half of the process's descriptors
  int per_address = 256;           // of them, from one IPv4 address or one IPv6 network (/64)
  uint64_t unaccounted = 8 << 20;  // bytes of a connection beyond those that its calls account for
  uint64_t before_call = 256 << 10;  // the same before its first call
};

// Told of what came of connections, and asked about them, on the loop's thread; all optional, and
// throw nothing.
struct AcceptNews {
  // One was closed: "connections", there are too many or no descriptors are left; "address", too
  // many are of one address; "bytes", more came over it than its calls account for.
  std::function<void(Refusal reason)> refused = {};
  // One is about to be handed over.
  std::function<void(const Peer& peer)> opened = {};
  // One that was handed over is closed. Known within seconds.
  std::function<void(const Peer& peer)> closed = {};
  // Bytes that its calls account for; 0: it has made none. Not set: connections may bring any
  // number. gRPC 1.51 keeps headers that never end in memory (CVE-2023-33953); they are no call, so
  // they are not accounted for. What a call could have brought and did not is not saved up.
  std::function<uint64_t(const Peer& peer)> accounted = {};
};

struct AcceptCounts {
  int64_t accepted = 0;  // handed over
  int64_t refused = 0;   // closed at once, being over a limit or for want of descriptors
  int64_t failures = 0;  // times that accept() failed, mostly for want of descriptors
  int open = 0;          // handed over and not closed yet
};

class AcceptLoop {
 public:
  // Listens on HOST:PORT (an IPv4 address, [IPv6], or a name; port 0: any that is free) and calls
  // `hand_over`, on a thread of its own, with the descriptor of each connection: non-blocking, to
  // be closed by its new owner. It throws nothing. Throws a network error that says what to do when
  // the port is taken or the address is not of this machine.
  AcceptLoop(const std::string& address, const AcceptLimits& limits,
             std::function<void(int fd)> hand_over, AcceptNews news = {});
  ~AcceptLoop();  // connections that were handed over live on
  AcceptLoop(const AcceptLoop&) = delete;
  AcceptLoop& operator=(const AcceptLoop&) = delete;

  // As bound: an IP address and the port.
  std::string address() const { return address_; }

  AcceptCounts counts() const;

  // Accepts no more.
  void Close();

  // Shuts down the connection from there, if it is still open: soon, on the loop's thread.
  void Cut(const Peer& peer);

 private:
  // Where a connection comes from: an IPv4 address, or the first half of an IPv6 one.
  using Origin = std::array<uint8_t, 8>;

  // A connection that was handed over. Its descriptor is another's now and may be closed, and its
  // number be used again, at any time; the socket's inode tells.
  struct Connection {
    int fd;
    uint64_t device, inode;
    Origin origin;
    Peer peer;
    uint64_t lapsed = 0;  // bytes that its calls account for and that never came
  };

  static Origin OriginOf(const Peer& peer);
  static bool IsOpen(const Connection& connection);

  void Serve(const std::stop_token& stop);
  bool AcceptWaiting();
  bool AcceptAndRefuse();
  void Take(int fd, const sockaddr_storage& peer);
  bool Knows(const Peer& peer) const;
  std::optional<Refusal> Admit(int fd, const Peer& from);
  void ForgetClosed();
  void CutGreedy();
  void CutNamed();
  static void ShutDown(const Connection& connection);
  void TellRefused(Refusal reason) const;

  AcceptLimits limits_;
  std::function<void(int fd)> hand_over_;
  AcceptNews news_;
  int listener_ = -1, wake_ = -1;
  int spare_ = -1;  // given up for a moment when descriptors run out
  std::string address_;
  mutable std::mutex mutex_;  // of the three below
  AcceptCounts counts_;
  std::vector<Connection> connections_;
  std::set<Peer> to_cut_;
  std::unique_ptr<BackgroundThread> thread_;  // last: it uses the others
};

// Whether every address that the host of HOST:PORT stands for is this machine's own loopback.
// Throws a network error when it stands for none.
bool IsLoopback(const std::string& address);

// Lets this process open as many descriptors as the system allows it to, at most 65536. Returns how
// many that are.
int RaiseDescriptorLimit();

}  // namespace kindred

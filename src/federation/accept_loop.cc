#include "federation/accept_loop.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/tcp.h>  // glibc's tcp_info knows no bytes
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstring>

#include "base/error.h"
#include "base/host.h"

namespace kindred {
namespace {

// How long to leave the listener alone when accept() fails for want of something.
constexpr int kPauseMilliseconds = 50;
// How often it looks at the connections, when nobody comes.
constexpr int kLookMilliseconds = 100;

HostPlaces PlacesOf(const std::string& text) {
  const Address address = ParseAddress(text);
  HostPlaces places = LookUpHost(address, HostUse::kListen);
  if (places.first) return places;
  throw NetworkError("{}: no such host: {}; check its name", Printable(address.host),
                     places.why_none);
}

std::string WhatToDo(int error) {
  switch (error) {
    case EADDRINUSE:
      return "another program listens there; stop it, or take another port";
    case EADDRNOTAVAIL:
      return "not an address of this machine; 0.0.0.0 or [::] listens on all it has";
    case EACCES:
      return "this user may not listen on that port; take one above 1023";
    default:
      return fmt::format("{}; take another address", std::strerror(error));
  }
}

// A socket that listens there; -1 with errno set when there is none.
int ListenOn(const addrinfo& place) {
  const int fd = ::socket(place.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const int on = 1, off = 0;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);  // a port just left is free
  if (place.ai_family == AF_INET6) {
    ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);  // [::] takes IPv4 too
  }
  if (::bind(fd, place.ai_addr, place.ai_addrlen) == 0 && ::listen(fd, SOMAXCONN) == 0) return fd;
  const int error = errno;
  ::close(fd);
  errno = error;
  return -1;
}

std::string BoundAddress(int listener) {
  sockaddr_storage bound = {};
  socklen_t size = sizeof bound;
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&bound), &size);
  const bool six = bound.ss_family == AF_INET6;
  const auto& v4 = reinterpret_cast<const sockaddr_in&>(bound);
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(bound);
  char text[INET6_ADDRSTRLEN] = {};
  ::inet_ntop(bound.ss_family, six ? static_cast<const void*>(&v6.sin6_addr) : &v4.sin_addr, text,
              sizeof text);
  return FormatAddress({text, ntohs(six ? v6.sin6_port : v4.sin_port)});
}

// Bytes that have come over a connection; 0: not known.
uint64_t BytesReceived(int fd) {
  tcp_info info = {};
  socklen_t size = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  return size >= offsetof(tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received
             ? info.tcpi_bytes_received
             : 0;
}

int OpenSpare() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

bool IsLoopbackAddress(const addrinfo& place) {
  if (place.ai_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(place.ai_addr);
    return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
  }
  if (place.ai_family != AF_INET6) return false;
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6*>(place.ai_addr)->sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

}  // namespace

AcceptLoop::AcceptLoop(const std::string& address, const AcceptLimits& limits,
                       std::function<void(int fd)> hand_over, AcceptNews news)
    : limits_(limits), hand_over_(std::move(hand_over)), news_(std::move(news)) {
  const HostPlaces places = PlacesOf(address);
  int error = 0;
  for (const addrinfo* place = places.first.get(); place && listener_ < 0; place = place->ai_next) {
    listener_ = ListenOn(*place);
    if (listener_ < 0 && error == 0) error = errno;  // of the first, the preferred one
  }
  if (listener_ < 0) throw NetworkError("{}: {}", Printable(address), WhatToDo(error));
  address_ = BoundAddress(listener_);
  wake_ = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  spare_ = OpenSpare();
  rlimit descriptors = {};
  ::getrlimit(RLIMIT_NOFILE, &descriptors);
  limits_.total = static_cast<int>(
      std::min<rlim_t>(static_cast<rlim_t>(limits.total), descriptors.rlim_cur / 2));
  try {
    if (wake_ < 0) throw NetworkError("{}: no descriptor is left; raise `ulimit -n`", address);
    thread_ = std::make_unique<BackgroundThread>(
        "accept", [this](const std::stop_token& stop) { Serve(stop); });
  } catch (...) {
    for (const int fd : {listener_, wake_, spare_}) {
      if (fd >= 0) ::close(fd);
    }
    throw;
  }
}

AcceptLoop::~AcceptLoop() { Close(); }

void AcceptLoop::Close() {
  thread_.reset();
  for (int* fd : {&listener_, &wake_, &spare_}) {
    if (*fd >= 0) ::close(*fd);
    *fd = -1;
  }
}

AcceptCounts AcceptLoop::counts() const {
  const std::lock_guard lock(mutex_);
  AcceptCounts counts = counts_;
  counts.open = static_cast<int>(std::count_if(connections_.begin(), connections_.end(), &IsOpen));
  return counts;
}

void AcceptLoop::Serve(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t wrote = ::write(wake_, &one, sizeof one);
  });
  bool rest = false;
  auto looked = std::chrono::steady_clock::now();
  while (!stop.stop_requested()) {
    // While it rests, only a stop wakes it: what waits at the listener would do so at once.
    pollfd waiting[] = {{wake_, POLLIN, 0}, {listener_, POLLIN, 0}};
    ::poll(waiting, rest ? 1 : 2, rest ? kPauseMilliseconds : kLookMilliseconds);
    if (stop.stop_requested()) return;
    ForgetClosed();
    if (const auto now = std::chrono::steady_clock::now();
        now - looked >= std::chrono::milliseconds(kLookMilliseconds)) {
      looked = now;
      CutGreedy();
      CutNamed();
    }
    rest = !AcceptWaiting();
  }
}

// Accepts one connection that waits, if there is one. False when the system lacks something and
// another attempt at once would fail too.
bool AcceptLoop::AcceptWaiting() {
  if (spare_ < 0) spare_ = OpenSpare();
  sockaddr_storage peer = {};
  socklen_t size = sizeof peer;
  const int fd =
      ::accept4(listener_, reinterpret_cast<sockaddr*>(&peer), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) {
    Take(fd, peer);
    return true;
  }
  switch (errno) {
    case EMFILE:
    case ENFILE:
      return AcceptAndRefuse();
    case EAGAIN:  // whoever waited has left
    case EINTR:
    case ECONNABORTED:
      return true;
    default: {
      const std::lock_guard lock(mutex_);
      ++counts_.failures;
      return false;
    }
  }
}

// Out of descriptors: the one held in reserve takes the connection off the queue, so that whoever
// waits hears at once and those who come later are seen.
bool AcceptLoop::AcceptAndRefuse() {
  int fd = -1;
  {
    const std::lock_guard lock(mutex_);
    ++counts_.failures;
    if (spare_ < 0) return false;
    ::close(spare_);
    fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
      ::close(fd);
      ++counts_.refused;
    }
    spare_ = OpenSpare();
  }
  if (fd >= 0) TellRefused(Refusal::kConnections);
  return fd >= 0;
}

void AcceptLoop::Take(int fd, const sockaddr_storage& peer) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const Peer from = PeerOf(peer);
  if (Knows(from)) ForgetClosed();  // the one before has ended, most likely
  const std::optional<Refusal> reason =
      Knows(from) ? std::optional(Refusal::kConnections) : Admit(fd, from);
  if (reason) {
    ::close(fd);
    TellRefused(*reason);
  } else {
    if (news_.opened) news_.opened(from);
    hand_over_(fd);
  }
}

bool AcceptLoop::Knows(const Peer& peer) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(connections_.begin(), connections_.end(),
                     [&](const Connection& each) { return each.peer == peer; });
}

void AcceptLoop::TellRefused(Refusal reason) const {
  if (news_.refused) news_.refused(reason);
}

void AcceptLoop::ForgetClosed() {
  std::vector<Peer> closed;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(connections_, [&](const Connection& each) {
      if (IsOpen(each)) return false;
      closed.push_back(each.peer);
      return true;
    });
  }
  for (const Peer& peer : closed) {
    if (news_.closed) news_.closed(peer);
  }
}

// On this thread alone: no connection is accepted meanwhile that could get the number of one that
// was closed. Of what other threads open, the sockets of the dashboard could, in an instant.
void AcceptLoop::ShutDown(const Connection& connection) {
  if (IsOpen(connection)) ::shutdown(connection.fd, SHUT_RDWR);
}

void AcceptLoop::CutGreedy() {
  if (!news_.accounted) return;
  std::vector<Connection> greedy;
  {
    const std::lock_guard lock(mutex_);
    for (Connection& each : connections_) {
      if (!IsOpen(each)) continue;
      const uint64_t received = BytesReceived(each.fd), accounted = news_.accounted(each.peer);
      if (accounted > received) each.lapsed = std::max(each.lapsed, accounted - received);
      const uint64_t limit = accounted == 0 ? limits_.before_call : limits_.unaccounted;
      if (received + each.lapsed > accounted + limit) greedy.push_back(each);
    }
  }
  for (const Connection& each : greedy) {
    ShutDown(each);
    TellRefused(Refusal::kBytes);
  }
}

void AcceptLoop::CutNamed() {
  std::vector<Connection> named;
  {
    const std::lock_guard lock(mutex_);
    for (const Connection& each : connections_) {
      if (to_cut_.contains(each.peer)) named.push_back(each);
    }
    to_cut_.clear();
  }
  for (const Connection& each : named) ShutDown(each);
}

void AcceptLoop::Cut(const Peer& peer) {
  const std::lock_guard lock(mutex_);
  to_cut_.insert(peer);
}

// Counts a connection among the open ones, unless there are too many: then says why not.
std::optional<Refusal> AcceptLoop::Admit(int fd, const Peer& from) {
  struct stat status;
  const bool known = ::fstat(fd, &status) == 0;
  const Origin origin = OriginOf(from);
  const std::lock_guard lock(mutex_);
  const auto from_there =
      std::count_if(connections_.begin(), connections_.end(),
                    [&](const Connection& each) { return each.origin == origin; });
  const bool full = !known || static_cast<int>(connections_.size()) >= limits_.total;
  if (full || from_there >= limits_.per_address) {
    ++counts_.refused;
    return full ? Refusal::kConnections : Refusal::kAddress;
  }
  connections_.push_back({fd, status.st_dev, status.st_ino, origin, from});
  ++counts_.accepted;
  return std::nullopt;
}

bool AcceptLoop::IsOpen(const Connection& connection) {
  struct stat status;
  return ::fstat(connection.fd, &status) == 0 && status.st_dev == connection.device &&
         status.st_ino == connection.inode;
}

AcceptLoop::Origin AcceptLoop::OriginOf(const Peer& peer) {
  Origin origin = {};
  const bool v4 = IN6_IS_ADDR_V4MAPPED(reinterpret_cast<const in6_addr*>(peer.address.data()));
  std::memcpy(origin.data(), peer.address.data() + (v4 ? 12 : 0), v4 ? 4 : origin.size());
  return origin;
}

bool IsLoopback(const std::string& address) {
  const HostPlaces places = PlacesOf(address);
  for (const addrinfo* place = places.first.get(); place != nullptr; place = place->ai_next) {
    if (!IsLoopbackAddress(*place)) return false;
  }
  return true;
}

int RaiseDescriptorLimit() {
  constexpr rlim_t kMost = 65536;
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t wanted = std::min(limit.rlim_max, kMost);
  if (wanted > limit.rlim_cur) {
    limit.rlim_cur = wanted;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    ::getrlimit(RLIMIT_NOFILE, &limit);
  }
  return static_cast<int>(std::min(limit.rlim_cur, kMost));
}

}  // namespace kindred

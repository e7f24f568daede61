#include "doctor/reachability.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "base/host.h"

namespace kindred {
namespace {

template <auto Free>
struct FreedBy {
  template <class T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};

// OpenSSL writes to sockets by write(): while this lives, one that the other end has closed is a
// failed write and not the end of the program.
class NoBrokenPipe {
 public:
  NoBrokenPipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoBrokenPipe() {
    const timespec at_once = {};
    while (sigismember(&before_, SIGPIPE) == 0 && sigtimedwait(&pipe_, nullptr, &at_once) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoBrokenPipe(const NoBrokenPipe&) = delete;
  NoBrokenPipe& operator=(const NoBrokenPipe&) = delete;

 private:
  sigset_t pipe_, before_;
};

// One deadline for all that is tried.
class TimeLeft {
 public:
  explicit TimeLeft(double seconds)
      : end_(std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds)) {}

  int Milliseconds() const {
    const std::chrono::duration<double, std::milli> left = end_ - std::chrono::steady_clock::now();
    return left.count() > 0 ? static_cast<int>(left.count()) + 1 : 0;
  }

 private:
  std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<double>> end_;
};

// A connected socket that does not block, or why there is none.
struct Connecting {
  Connecting() = default;
  ~Connecting() { Close(); }
  Connecting(const Connecting&) = delete;
  Connecting& operator=(const Connecting&) = delete;

  void Close() {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }

  int fd = -1;
  std::optional<Unreached> failed;
};

bool WaitFor(int fd, int events, const TimeLeft& time) {
  pollfd waiting = {fd, static_cast<short>(events), 0};
  int ready = 0;
  do {
    ready = ::poll(&waiting, 1, time.Milliseconds());
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

// 0 when it is connected, else an errno.
int ConnectTo(int fd, const addrinfo& place, const TimeLeft& time) {
  if (::connect(fd, place.ai_addr, place.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!WaitFor(fd, POLLOUT, time)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

void Connect(const std::string& text, double seconds, const TimeLeft& time, Connecting& made) {
  const Address address = ParseAddress(text);
  const HostPlaces places = LookUpHost(address, HostUse::kConnect);
  if (!places.first) {
    made.failed = {WayEnd::kHost, "no such host: " + places.why_none};
    return;
  }
  int error = 0;
  for (const addrinfo* place = places.first.get(); place != nullptr; place = place->ai_next) {
    made.fd = ::socket(place->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int failed = made.fd < 0 ? errno : ConnectTo(made.fd, *place, time);
    if (failed == 0) return;
    if (error == 0) error = failed;  // of the first, the preferred one
    made.Close();
  }
  made.failed = {WayEnd::kConnection, error == ETIMEDOUT
                                          ? fmt::format("no answer in {:.0f} s", seconds)
                                          : std::strerror(error)};
}

std::string LastTlsError() {
  const auto error = ERR_peek_last_error();
  const char* reason = error == 0 ? nullptr : ERR_reason_error_string(error);
  return reason == nullptr ? "the connection ended" : reason;
}

using TlsContext = std::unique_ptr<SSL_CTX, FreedBy<SSL_CTX_free>>;
using TlsConnection = std::unique_ptr<SSL, FreedBy<SSL_free>>;
using PemFile = std::unique_ptr<BIO, FreedBy<BIO_free_all>>;

PemFile PemOf(const std::string& text) {
  return PemFile(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// As gRPC dials: the kit's authority alone is trusted, and the coordinator must have its name.
TlsConnection MakeTls(const Kit& kit, SSL_CTX* context, int fd) {
  using Certificate = std::unique_ptr<X509, FreedBy<X509_free>>;
  using Key = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;
  const Certificate authority(PEM_read_bio_X509(PemOf(kit.ca).get(), nullptr, nullptr, nullptr));
  const Certificate own(PEM_read_bio_X509(PemOf(kit.certificate).get(), nullptr, nullptr, nullptr));
  const Key key(PEM_read_bio_PrivateKey(PemOf(kit.key).get(), nullptr, nullptr, nullptr));
  const unsigned char http2[] = {2, 'h', '2'};
  if (context == nullptr || !authority || !own || !key ||
      SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) != 1 ||
      X509_STORE_add_cert(SSL_CTX_get_cert_store(context), authority.get()) != 1 ||
      SSL_CTX_use_certificate(context, own.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context, key.get()) != 1 ||
      SSL_CTX_set_alpn_protos(context, http2, sizeof http2) != 0) {
    return nullptr;
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  TlsConnection tls(SSL_new(context));
  if (!tls || SSL_set1_host(tls.get(), kCoordinatorName) != 1 ||
      SSL_set_tlsext_host_name(tls.get(), kCoordinatorName) != 1 || SSL_set_fd(tls.get(), fd) != 1)
    return nullptr;
  return tls;
}

enum class TlsStep { kDone, kFailed, kSilent };

// Makes a call of OpenSSL on a socket that does not block until it is through.
template <class Call>
TlsStep Through(SSL* tls, const TimeLeft& time, const Call& call) {
  while (true) {
    ERR_clear_error();
    const int result = call();
    if (result > 0) return TlsStep::kDone;
    const int wants = SSL_get_error(tls, result);
    if (wants != SSL_ERROR_WANT_READ && wants != SSL_ERROR_WANT_WRITE) return TlsStep::kFailed;
    const int events = wants == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
    if (!WaitFor(SSL_get_fd(tls), events, time)) return TlsStep::kSilent;
  }
}

std::optional<Unreached> Handshake(SSL* tls, double seconds, const TimeLeft& time) {
  const std::string silent = fmt::format("no answer in {:.0f} s", seconds);
  const TlsStep shaken = Through(tls, time, [&] { return SSL_connect(tls); });
  if (shaken != TlsStep::kDone) {
    const long verified = SSL_get_verify_result(tls);
    if (verified != X509_V_OK) {
      return Unreached{WayEnd::kFederation, X509_verify_cert_error_string(verified)};
    }
    // With TLS 1.2 a coordinator refuses a certificate here, after it has shown its own.
    const bool shown = SSL_get0_peer_certificate(tls) != nullptr;
    return Unreached{shown ? WayEnd::kCertificate : WayEnd::kTls,
                     shaken == TlsStep::kSilent ? silent : LastTlsError()};
  }
  // HTTP/2's first words, which an accepted connection answers.
  constexpr std::string_view kPreface("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
  char byte = 0;
  const auto say = [&] { return SSL_write(tls, kPreface.data(), kPreface.size()); };
  TlsStep answered = Through(tls, time, say);
  if (answered == TlsStep::kDone) {
    answered = Through(tls, time, [&] { return SSL_read(tls, &byte, 1); });
  }
  if (answered == TlsStep::kDone) return std::nullopt;
  return Unreached{WayEnd::kCertificate, answered == TlsStep::kSilent ? silent : LastTlsError()};
}

}  // namespace

std::optional<Unreached> CheckReachable(const std::string& address, double seconds) {
  Connecting made;
  Connect(address, seconds, TimeLeft(seconds), made);
  return made.failed;
}

std::optional<Unreached> WhyNoHandshake(const std::string& address, const Kit& kit,
                                        double seconds) {
  const TimeLeft time(seconds);
  Connecting made;
  Connect(address, seconds, time, made);
  if (made.failed) return made.failed;
  const NoBrokenPipe quiet;
  const TlsContext context(SSL_CTX_new(TLS_client_method()));
  const TlsConnection tls = MakeTls(kit, context.get(), made.fd);
  ERR_clear_error();
  if (!tls) throw NetworkError("{}: the kit of {} cannot be used", address, Printable(kit.name));
  const auto failed = Handshake(tls.get(), seconds, time);
  ERR_clear_error();
  return failed;
}

}  // namespace kindred

#include "federation/accept_loop.h"

#include <fcntl.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <thread>

#include "base/address.h"
#include "identity/certificate.h"
#include "identity/enrolments.h"
#include "identity/kit.h"
#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

// Waits for what other threads bring about; false when it does not come.
bool Eventually(const std::function<bool()>& happened) {
  for (int i = 0; i < 6000; ++i) {
    if (happened()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

// A TCP connection as anyone can make one to a port of 127.0.0.1.
class PlainConnection {
 public:
  PlainConnection() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  explicit PlainConnection(const AcceptLoop& loop) : PlainConnection() { Connect(loop); }
  ~PlainConnection() { ::close(fd_); }
  PlainConnection(const PlainConnection&) = delete;
  PlainConnection& operator=(const PlainConnection&) = delete;

  void Connect(const AcceptLoop& loop) const {
    EXPECT_TRUE(ConnectTo(fd_, ParseAddress(loop.address()).port));
  }

  static bool ConnectTo(int fd, uint16_t port) {
    sockaddr_in there = {};
    there.sin_family = AF_INET;
    there.sin_port = htons(port);
    there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return ::connect(fd, reinterpret_cast<const sockaddr*>(&there), sizeof there) == 0;
  }

  // The one it comes from.
  int Port() const {
    sockaddr_in own = {};
    socklen_t size = sizeof own;
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&own), &size);
    return ntohs(own.sin_port);
  }

  void Send(size_t bytes) const {
    const std::string text(bytes, 'x');
    EXPECT_EQ(::send(fd_, text.data(), bytes, 0), static_cast<ssize_t>(bytes));
  }

  // Whether nothing has come from the other side, not even its end.
  bool IsQuiet() const {
    char byte;
    return ::recv(fd_, &byte, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
  }

  // Whether the other side closes it.
  bool IsClosed() const {
    pollfd waiting = {fd_, POLLIN, 0};
    char byte;
    return ::poll(&waiting, 1, 30000) == 1 && ::recv(fd_, &byte, 1, 0) <= 0;
  }

 private:
  int fd_;
};

// Keeps the descriptors that it is handed.
class Keeper {
 public:
  ~Keeper() {
    while (CloseOne()) continue;
  }
  std::function<void(int)> HandOver() {
    return [this](int fd) {
      const std::lock_guard lock(mutex_);
      kept_.push_back(fd);
    };
  }
  bool CloseOne() {
    const std::lock_guard lock(mutex_);
    if (kept_.empty()) return false;
    ::close(kept_.back());
    kept_.pop_back();
    return true;
  }
  std::vector<int> Kept() {
    const std::lock_guard lock(mutex_);
    return kept_;
  }

 private:
  std::mutex mutex_;
  std::vector<int> kept_;
};

// Fewer descriptors for this process while the value lives.
class FewerDescriptors {
 public:
  explicit FewerDescriptors(rlim_t count) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit lowered = {count, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &lowered), 0);
  }
  ~FewerDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_ = {};
};

TEST(AcceptLoop, HandsOverConnectionsAndKnowsWhenTheyEnd) {
  Keeper keeper;
  const AcceptLoop loop("127.0.0.1:0", {}, keeper.HandOver());
  EXPECT_TRUE(loop.address().starts_with("127.0.0.1:"));
  EXPECT_GT(ParseAddress(loop.address()).port, 0);
  const PlainConnection one(loop), two(loop);
  ASSERT_TRUE(Eventually([&] { return keeper.Kept().size() == 2; }));
  for (const int fd : keeper.Kept()) {
    int no_delay = 0;
    socklen_t size = sizeof no_delay;
    ::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &no_delay, &size);
    EXPECT_NE(no_delay, 0);
    EXPECT_NE(::fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
  }
  EXPECT_EQ(loop.counts().accepted, 2);
  EXPECT_EQ(loop.counts().open, 2);
  keeper.CloseOne();
  EXPECT_EQ(loop.counts().open, 1);
  keeper.CloseOne();
  const int other = ::open("/dev/null", O_RDONLY | O_CLOEXEC);  // a number used again
  EXPECT_EQ(loop.counts().open, 0);
  ::close(other);
}

TEST(AcceptLoop, ConnectionsOverALimitAreClosedAtOnce) {
  for (const AcceptLimits limits :
       {AcceptLimits{.total = 2, .per_address = 9}, AcceptLimits{.total = 9, .per_address = 2}}) {
    Keeper keeper;
    const AcceptLoop loop("127.0.0.1:0", limits, keeper.HandOver());
    const PlainConnection one(loop), two(loop), three(loop), four(loop);
    EXPECT_TRUE(three.IsClosed());
    EXPECT_TRUE(four.IsClosed());
    EXPECT_EQ(loop.counts().accepted, 2);
    EXPECT_EQ(loop.counts().refused, 2);
    keeper.CloseOne();  // makes room for one
    const PlainConnection five(loop), six(loop);
    EXPECT_TRUE(six.IsClosed());
    EXPECT_EQ(loop.counts().accepted, 3);
    EXPECT_EQ(loop.counts().open, 2);
  }
}

TEST(AcceptLoop, TellsWhyItRefusesAndWhichConnectionsHaveEnded) {
  for (const bool by_address : {false, true}) {
    Keeper keeper;
    std::mutex mutex;
    std::vector<Refusal> refused;
    std::vector<int> closed;  // ports
    const AcceptNews news = {.refused =
                                 [&](Refusal reason) {
                                   const std::lock_guard lock(mutex);
                                   refused.push_back(reason);
                                 },
                             .closed =
                                 [&](const Peer& peer) {
                                   const std::lock_guard lock(mutex);
                                   closed.push_back(peer.port);
                                 }};
    const AcceptLoop loop("127.0.0.1:0",
                          {.total = by_address ? 9 : 1, .per_address = by_address ? 1 : 9},
                          keeper.HandOver(), news);
    const PlainConnection one(loop);
    ASSERT_TRUE(Eventually([&] { return keeper.Kept().size() == 1; }));
    const PlainConnection two(loop);
    EXPECT_TRUE(two.IsClosed());
    keeper.CloseOne();
    ASSERT_TRUE(Eventually([&] {
      const std::lock_guard lock(mutex);
      return !closed.empty();
    }));
    const std::lock_guard lock(mutex);
    EXPECT_EQ(refused,
              std::vector<Refusal>{by_address ? Refusal::kAddress : Refusal::kConnections});
    EXPECT_EQ(closed, std::vector<int>{one.Port()});
  }
}

TEST(AcceptLoop, AConnectionThatIsNamedIsShutDownAndNoOther) {
  Keeper keeper;
  AcceptLoop loop("127.0.0.1:0", {}, keeper.HandOver());
  const PlainConnection one(loop), two(loop);
  ASSERT_TRUE(Eventually([&] { return keeper.Kept().size() == 2; }));
  Peer peer = *ParsePeer("ipv4:127.0.0.1:1");
  peer.port = static_cast<uint16_t>(one.Port());
  loop.Cut(peer);
  EXPECT_TRUE(one.IsClosed());
  EXPECT_TRUE(two.IsQuiet());
}

TEST(AcceptLoop, WhoBringsMoreThanItsCallsAccountForIsCut) {
  Keeper keeper;
  std::atomic<uint64_t> accounted = 0;
  std::atomic<int> refused = 0;
  const AcceptLoop loop("127.0.0.1:0", {.unaccounted = 1000, .before_call = 9000},
                        keeper.HandOver(),
                        {.refused = [&](Refusal reason) { refused += reason == Refusal::kBytes; },
                         .accounted = [&](const Peer&) { return accounted.load(); }});
  const PlainConnection one(loop), two(loop);
  ASSERT_TRUE(Eventually([&] { return keeper.Kept().size() == 2; }));
  accounted = 5000;
  one.Send(6000);
  two.Send(6001);
  EXPECT_TRUE(two.IsClosed());
  EXPECT_TRUE(one.IsQuiet());
  EXPECT_EQ(refused, 1);
}

TEST(AcceptLoop, WhatCallsCouldHaveBroughtIsNotSavedUp) {
  Keeper keeper;
  std::atomic<uint64_t> accounted = 1'000'000, asked = 0;
  const AcceptLoop loop("127.0.0.1:0", {.unaccounted = 1000}, keeper.HandOver(),
                        {.accounted = [&](const Peer&) {
                          ++asked;
                          return accounted.load();
                        }});
  const PlainConnection one(loop);
  ASSERT_TRUE(Eventually([&] { return asked >= 2; }));
  one.Send(900);
  ASSERT_TRUE(Eventually([&, before = asked.load()] { return asked >= before + 3; }));
  EXPECT_TRUE(one.IsQuiet());
  one.Send(200);
  EXPECT_TRUE(one.IsClosed()) << "a million bytes were accounted for, and never came";
}

TEST(AcceptLoop, BeforeItsFirstCallAConnectionBringsLittle) {
  Keeper keeper;
  const AcceptLoop loop("127.0.0.1:0", {.unaccounted = 1 << 20, .before_call = 1000},
                        keeper.HandOver(), {.accounted = [](const Peer&) { return 0; }});
  const PlainConnection one(loop), two(loop);
  one.Send(1001);
  EXPECT_TRUE(one.IsClosed());
  EXPECT_TRUE(two.IsQuiet());
}

TEST(AcceptLoop, WithoutDescriptorsItRefusesAndThenGoesOn) {
  Keeper keeper;
  const AcceptLoop loop("127.0.0.1:0", {}, keeper.HandOver());
  const PlainConnection early, late;
  {
    std::vector<int> fillers;
    const FewerDescriptors lowered(256);
    for (int fd = ::dup(0); fd >= 0; fd = ::dup(0)) fillers.push_back(fd);
    early.Connect(loop);
    EXPECT_TRUE(early.IsClosed());  // it hears at once
    for (const int fd : fillers) ::close(fd);
  }
  EXPECT_EQ(loop.counts().refused, 1);
  EXPECT_EQ(loop.counts().failures, 1);
  late.Connect(loop);
  EXPECT_TRUE(Eventually([&] { return keeper.Kept().size() == 1; }));
}

TEST(AcceptLoop, WithoutEvenASpareDescriptorItWaitsWithoutSpinning) {
  Keeper keeper;
  const AcceptLoop loop("127.0.0.1:0", {}, keeper.HandOver());
  const PlainConnection patient;
  int64_t failures = 0;
  {
    const FewerDescriptors none(3);
    patient.Connect(loop);
    ASSERT_TRUE(Eventually([&] { return (failures = loop.counts().failures) >= 3; }));
  }
  EXPECT_LT(failures, 100);
  EXPECT_TRUE(Eventually([&] { return keeper.Kept().size() == 1; }));
  EXPECT_EQ(loop.counts().refused, 0);
}

TEST(AcceptLoop, StopsAndLeavesThePortFree) {
  Keeper keeper;
  auto loop = std::make_unique<AcceptLoop>("127.0.0.1:0", AcceptLimits{}, keeper.HandOver());
  const std::string address = loop->address();
  const PlainConnection one(*loop);
  ASSERT_TRUE(Eventually([&] { return keeper.Kept().size() == 1; }));
  ExpectError(ExitCode::kNetwork, "another program listens there",
              [&] { AcceptLoop second(address, {}, keeper.HandOver()); });
  loop.reset();
  const AcceptLoop again(address, {}, keeper.HandOver());
  EXPECT_EQ(again.address(), address);
}

TEST(AcceptLoop, SaysWhyItCannotListen) {
  const auto listen = [](const std::string& address) {
    AcceptLoop loop(address, {}, [](int fd) { ::close(fd); });
  };
  ExpectError(ExitCode::kNetwork, "not an address of this machine", [&] { listen("192.0.2.1:0"); });
  ExpectError(ExitCode::kNetwork, "no such host",
              [&] { listen(std::string(64, 'a') + ":0"); });  // longer than a label may be
  ExpectError(ExitCode::kUsage, "HOST:PORT", [&] { listen("localhost"); });
}

TEST(AcceptLoop, LoopbackIsThisMachineAlone) {
  for (const char* address :
       {"127.0.0.1:1", "127.8.9.10:1", "[::1]:1", "[::ffff:127.0.0.1]:1", "localhost:1"}) {
    EXPECT_TRUE(IsLoopback(address)) << address;
  }
  for (const char* address : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "[2001:db8::1]:1", "128.0.0.1:1",
                              "[::ffff:10.0.0.1]:1"}) {
    EXPECT_FALSE(IsLoopback(address)) << address;
  }
}

TEST(AcceptLoop, DescriptorsAreRaisedToTheHardLimit) {
  const FewerDescriptors lowered(200);
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t most = std::min<rlim_t>(limit.rlim_max, 65536);
  EXPECT_EQ(RaiseDescriptorLimit(), static_cast<int>(most));
  ::getrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_EQ(limit.rlim_cur, most);
}

// --- with gRPC
// -------------------------------------------------------------------------------------

// Answers every call with the name of a valid client, and with how it stands to others; always as a
// status, so that no message is needed.
class WhoAreYou : public grpc::CallbackGenericService {
 public:
  explicit WhoAreYou(Enrolments& enrolments) : enrolments_(enrolments) {}

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* call) override {
    class Answer : public grpc::ServerGenericBidiReactor {
     public:
      explicit Answer(const grpc::Status& status) { Finish(status); }
      void OnDone() override { delete this; }
    };
    const auto shown = call->auth_context()->FindPropertyValues("x509_pem_cert");
    if (shown.size() != 1) return new Answer({grpc::StatusCode::UNAUTHENTICATED, "nobody"});
    const auto found = enrolments_.Find({shown[0].data(), shown[0].size()});
    if (found.state == EnrolmentState::kValid) {
      return new Answer({grpc::StatusCode::UNIMPLEMENTED, found.enrolment.name});
    }
    return new Answer({grpc::StatusCode::PERMISSION_DENIED, ToString(found.state)});
  }

 private:
  Enrolments& enrolments_;
};

// A coordinator without any service but the above, with mutual TLS, behind an AcceptLoop.
class TestCoordinator {
 public:
  explicit TestCoordinator(const std::filesystem::path& pki, const AcceptLimits& limits = {},
                           const std::filesystem::path& shows = {})
      : enrolments_(pki), service_(enrolments_) {
    const ServerKit kit = ReadServerKit(pki);
    grpc::SslServerCredentialsOptions tls(
        GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    tls.pem_root_certs = kit.ca;
    tls.pem_key_cert_pairs = {{kit.key, kit.certificate}};
    if (!shows.empty()) {
      const Kit client = ReadKit(shows);
      tls.pem_key_cert_pairs = {{client.key, client.certificate}};
    }
    grpc::ServerBuilder builder;
    builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, 1000);
    builder.RegisterCallbackGenericService(&service_);
    acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        grpc::SslServerCredentials(tls));
    server_ = builder.BuildAndStart();
    Check(server_ != nullptr, "gRPC starts");
    loop_ = std::make_unique<AcceptLoop>("127.0.0.1:0", limits, [this](int fd) {
      grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters connection;
      connection.fd = fd;
      acceptor_->HandleNewConnection(&connection);
    });
  }

  ~TestCoordinator() {
    loop_.reset();
    server_->Shutdown(std::chrono::system_clock::now());
  }

  const AcceptLoop& loop() const { return *loop_; }

 private:
  Enrolments enrolments_;
  WhoAreYou service_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<AcceptLoop> loop_;
};

// One call by a channel of its own: no two share a connection.
grpc::Status CallOnce(const TestCoordinator& coordinator, const grpc::SslCredentialsOptions& tls,
                      bool patient = false) {
  grpc::ChannelArguments arguments;
  arguments.SetSslTargetNameOverride(kCoordinatorName);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 200);
  const auto channel =
      grpc::CreateCustomChannel(coordinator.loop().address(), grpc::SslCredentials(tls), arguments);
  grpc::GenericStub stub(channel);
  grpc::ClientContext context;
  context.set_wait_for_ready(patient);
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
  grpc::CompletionQueue queue;
  const auto call = stub.PrepareUnaryCall(&context, "/who/AreYou", grpc::ByteBuffer(), &queue);
  call->StartCall();
  grpc::ByteBuffer answer;
  grpc::Status status;
  void* tag = nullptr;
  bool ok = false;
  call->Finish(&answer, &status, nullptr);
  queue.Next(&tag, &ok);
  return status;
}

void ExpectServed(const grpc::Status& status, const std::string& name) {
  EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(status.error_message(), name);
}

grpc::SslCredentialsOptions TlsOf(const Kit& kit) {
  grpc::SslCredentialsOptions tls;
  tls.pem_root_certs = kit.ca;
  tls.pem_private_key = kit.key;
  tls.pem_cert_chain = kit.certificate;
  return tls;
}

struct TwoFederations {
  TemporaryFolder folder = TestFolder();
  std::filesystem::path pki = folder.path() / "pki", other = folder.path() / "other";

  TwoFederations() {
    InitPki(pki);
    InitPki(other);
  }
  Kit Issue(const std::filesystem::path& authority, const std::string& name, int days = 9) const {
    const auto kit = folder.path() / (authority.filename().string() + "-" + name);
    IssueKit(authority, kit, {.name = name, .server = "localhost:1", .days = days});
    return ReadKit(kit);
  }
};

TEST(AcceptLoopGrpc, ServesClientsOfTheFederationAlone) {
  const TwoFederations made;
  const Kit good = made.Issue(made.pki, "good"), old = made.Issue(made.pki, "old", -1),
            foreign = made.Issue(made.other, "good");
  const TestCoordinator coordinator(made.pki);
  ExpectServed(CallOnce(coordinator, TlsOf(good)), "good");
  using grpc::StatusCode;
  EXPECT_EQ(CallOnce(coordinator, TlsOf(old)).error_code(), StatusCode::UNAVAILABLE);
  auto tls = TlsOf(foreign);
  EXPECT_EQ(CallOnce(coordinator, tls).error_code(), StatusCode::UNAVAILABLE);
  tls.pem_root_certs = good.ca;
  EXPECT_EQ(CallOnce(coordinator, tls).error_code(), StatusCode::UNAVAILABLE);
  tls.pem_private_key = tls.pem_cert_chain = "";
  EXPECT_EQ(CallOnce(coordinator, tls).error_code(), StatusCode::UNAVAILABLE);
  // The coordinator's own certificate is not a client's.
  const ServerKit server = ReadServerKit(made.pki);
  tls.pem_private_key = server.key;
  tls.pem_cert_chain = server.certificate;
  EXPECT_EQ(CallOnce(coordinator, tls).error_code(), StatusCode::UNAVAILABLE);
  Revoke(made.pki, "good");
  const auto revoked = CallOnce(coordinator, TlsOf(good));
  EXPECT_EQ(revoked.error_code(), StatusCode::PERMISSION_DENIED);
  EXPECT_EQ(revoked.error_message(), "revoked");
  // The connections of all those calls have ended, and it knows.
  EXPECT_GE(coordinator.loop().counts().accepted, 7);
  EXPECT_TRUE(Eventually([&] { return coordinator.loop().counts().open == 0; }));
}

TEST(AcceptLoopGrpc, AClientsCertificateDoesNotPassAsTheCoordinators) {
  const TwoFederations made;
  const Kit good = made.Issue(made.pki, "good");
  made.Issue(made.pki, kCoordinatorName);
  const TestCoordinator impostor(made.pki, {}, made.folder.path() / "pki-kindred-coordinator");
  EXPECT_EQ(CallOnce(impostor, TlsOf(good)).error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST(AcceptLoopGrpc, HandshakesThatDoNotGoOnEndInTime) {
  const TwoFederations made;
  const TestCoordinator coordinator(made.pki);
  const PlainConnection silent(coordinator.loop());
  ASSERT_TRUE(Eventually([&] { return coordinator.loop().counts().open == 1; }));
  EXPECT_TRUE(silent.IsClosed());
  EXPECT_TRUE(Eventually([&] { return coordinator.loop().counts().open == 0; }));
}

// A process that makes connections and holds them until it is told to end. It has descriptors of
// its own, and calls nothing that another thread's lock could stop.
class Flood {
 public:
  Flood(int count, uint16_t port) {
    EXPECT_EQ(::pipe2(made_, O_CLOEXEC) | ::pipe2(end_, O_CLOEXEC), 0);
    child_ = ::fork();
    if (child_ != 0) {
      ::close(made_[1]);
      ::close(end_[0]);
      return;
    }
    ::close(end_[1]);
    rlimit limit = {};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    char worked = 1;
    for (int i = 0; i < count; ++i) {
      const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
      if (fd < 0 || !PlainConnection::ConnectTo(fd, port)) worked = 0;
    }
    if (::write(made_[1], &worked, 1) == 1 && ::read(end_[0], &worked, 1) < 0) ::_exit(1);
    ::_exit(0);
  }
  ~Flood() {
    ::close(end_[1]);
    ::close(made_[0]);
    ::waitpid(child_, nullptr, 0);
  }
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;

  bool Made() const {
    char worked = 0;
    return ::read(made_[0], &worked, 1) == 1 && worked == 1;
  }

 private:
  int made_[2] = {-1, -1}, end_[2] = {-1, -1};
  pid_t child_ = -1;
};

// 700 connections on 512 descriptors, with the honest client's taken from the same.
void SurviveFlood(const TwoFederations& made, const Kit& good, TestCoordinator& coordinator) {
  {
    const Flood flood(700, ParseAddress(coordinator.loop().address()).port);
    ASSERT_TRUE(flood.Made());
    // Served even while the flood is there, once its handshakes have run out of time.
    ExpectServed(CallOnce(coordinator, TlsOf(good), true), "good");
    EXPECT_TRUE(Eventually([&] { return coordinator.loop().counts().open == 0; }));
  }
  EXPECT_GT(coordinator.loop().counts().refused, 100);
  const Kit late = made.Issue(made.pki, "late");
  ExpectServed(CallOnce(coordinator, TlsOf(late), true), "late");
}

TEST(AcceptLoopGrpc, AfterAFloodOfConnectionsAnHonestClientIsServed) {
  const TwoFederations made;
  const Kit good = made.Issue(made.pki, "good");
  const FewerDescriptors lowered(512);
  TestCoordinator coordinator(made.pki, {.total = 1024, .per_address = 1024});
  SurviveFlood(made, good, coordinator);
  EXPECT_EQ(coordinator.loop().counts().failures, 0) << "it keeps to half of the descriptors";
}

TEST(AcceptLoopGrpc, AfterAFloodThatTakesEveryDescriptorAnHonestClientIsServed) {
  const TwoFederations made;
  const Kit good = made.Issue(made.pki, "good");
  RaiseDescriptorLimit();
  TestCoordinator coordinator(made.pki, {.total = 1024, .per_address = 1024});
  const FewerDescriptors lowered(512);  // after it looked
  SurviveFlood(made, good, coordinator);
  EXPECT_GT(coordinator.loop().counts().failures, 100);
}

}  // namespace
}  // namespace kindred

#include "doctor/reachability.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string_view>

#include "federation/accept_loop.h"
#include "identity/pki.h"
#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

// Two authorities; a and old are clients of the first, old's certificate has expired.
struct TwoAuthorities {
  TemporaryFolder folder = TestFolder();

  std::filesystem::path At(const char* name) const { return folder.path() / name; }

  TwoAuthorities() {
    InitPki(At("pki"));
    InitPki(At("other"));
    IssueKit(At("pki"), At("a"), {.name = "a", .server = "localhost:1"});
    IssueKit(At("pki"), At("old"), {.name = "old", .server = "localhost:1", .days = -3});
    IssueKit(At("other"), At("b"), {.name = "b", .server = "localhost:1"});
  }
};

// gRPC with a federation's certificates and nothing behind it.
struct BareServer {
  grpc::CallbackGenericService service;
  std::unique_ptr<grpc::Server> server;
  std::string address;

  BareServer(const std::string& ca, const std::string& key, const std::string& certificate) {
    grpc::SslServerCredentialsOptions options(
        GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    options.pem_root_certs = ca;
    options.pem_key_cert_pairs = {{key, certificate}};
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::SslServerCredentials(options), &port);
    builder.RegisterCallbackGenericService(&service);
    server = builder.BuildAndStart();
    address = "127.0.0.1:" + std::to_string(port);
  }
  ~BareServer() { server->Shutdown(std::chrono::system_clock::now()); }
};

int EndOf(const std::optional<Unreached>& failed) {
  return failed ? static_cast<int>(failed->end) : -1;
}

TEST(Reachability, AListenerIsReachedAndAClosedPortIsNot) {
  std::string address;
  {
    const AcceptLoop listener("127.0.0.1:0", {}, [](int fd) { ::close(fd); });
    address = listener.address();
    EXPECT_EQ(EndOf(CheckReachable(address)), -1);
  }
  EXPECT_EQ(EndOf(CheckReachable(address)), static_cast<int>(WayEnd::kConnection));
}

TEST(Reachability, ANameWithoutAddressIsToldFromAClosedPort) {
  const auto failed = CheckReachable("nobody.invalid:1");
  EXPECT_EQ(EndOf(failed), static_cast<int>(WayEnd::kHost));
  ExpectError(ExitCode::kUsage, "not an address", [] { CheckReachable("nobody"); });
}

TEST(Reachability, SomebodyWhoSpeaksNoTlsIsToldFromACoordinator) {
  const TwoAuthorities made;
  const Kit kit = ReadKit(made.At("a"));
  const AcceptLoop chatty("127.0.0.1:0", {}, [](int fd) {
    constexpr std::string_view kHello = "SSH-2.0-hello\r\n";
    ::send(fd, kHello.data(), kHello.size(), MSG_NOSIGNAL);
    ::close(fd);
  });
  EXPECT_EQ(EndOf(WhyNoHandshake(chatty.address(), kit)), static_cast<int>(WayEnd::kTls));
  std::vector<int> kept;
  {
    const AcceptLoop silent("127.0.0.1:0", {}, [&](int fd) { kept.push_back(fd); });
    const auto failed = WhyNoHandshake(silent.address(), kit, 0.3);
    EXPECT_EQ(EndOf(failed), static_cast<int>(WayEnd::kTls));
    EXPECT_NE(failed->why.find("no answer"), std::string::npos) << failed->why;
  }
  for (const int fd : kept) ::close(fd);
}

TEST(Reachability, ACoordinatorOfTheFederationTakesItsClientsAndNoOthers) {
  const TwoAuthorities made;
  const ServerKit server = ReadServerKit(made.At("pki"));
  const BareServer coordinator(server.ca, server.key, server.certificate);
  const auto end = [&](const char* kit) {
    return EndOf(WhyNoHandshake(coordinator.address, ReadKit(made.At(kit))));
  };
  EXPECT_EQ(end("a"), -1);
  EXPECT_EQ(end("old"), static_cast<int>(WayEnd::kCertificate));
  EXPECT_EQ(end("b"), static_cast<int>(WayEnd::kFederation));
}

TEST(Reachability, AClientThatPlaysCoordinatorIsFoundOut) {
  const TwoAuthorities made;
  const Kit kit = ReadKit(made.At("a"));
  const BareServer impostor(kit.ca, kit.key, kit.certificate);
  EXPECT_EQ(EndOf(WhyNoHandshake(impostor.address, kit)), static_cast<int>(WayEnd::kFederation));
}

}  // namespace
}  // namespace kindred

#include "report/dashboard.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "base/address.h"
#include "base/file.h"
#include "tests/folders.h"
#include "tests/throws.h"

namespace kindred {
namespace {

constexpr const char* kToken = "0123456789abcdef0123";

class DashboardTest : public testing::Test {
 protected:
  DashboardTest() : dir_(folder_.path() / "run"), board_({"127.0.0.1:0", kToken}, dir_) {}

  // What comes back for these bytes, until the server ends the connection or `until` has come.
  std::string Ask(const std::string& request, const std::string& until = "") const {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(ParseAddress(board_.address()).port);
    ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    const timeval patience = {.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::send(fd, request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
    std::string answer;
    char buffer[4096];
    for (ssize_t got; (got = ::recv(fd, buffer, sizeof buffer, 0)) > 0;) {
      answer.append(buffer, static_cast<size_t>(got));
      if (!until.empty() && answer.find(until) != std::string::npos) break;
    }
    ::close(fd);
    return answer;
  }

  std::string Get(const std::string& path, const std::string& token = kToken,
                  const std::string& until = "") const {
    return Ask("GET " + path + " HTTP/1.1\r\nHost: " + board_.address() +
                   "\r\nConnection: close\r\n" +
                   (token.empty() ? "" : "Authorization: Bearer " + token + "\r\n") + "\r\n",
               until);
  }

  void Append(const std::string& line) {
    MakeFolder(dir_.path());
    std::ofstream(dir_.metrics(), std::ios::app) << line << "\n";
  }

  TemporaryFolder folder_ = TestFolder();
  RunDir dir_;
  Dashboard board_;
};

TEST_F(DashboardTest, ThePageIsForAllAndTheDataForWhoHasTheToken) {
  EXPECT_NE(Get("/", "").find("200 OK"), std::string::npos);
  EXPECT_NE(Get("/health", "").find("200 OK"), std::string::npos);
  for (const char* path : {"/data", "/events", "/metrics", "/part/clients", "/nothing"}) {
    for (const char* token :
         {"", "0123456789abcdef012", "0123456789abcdef0124", "0123456789abcdef01233"}) {
      EXPECT_NE(Get(path, token).find(" 401 "), std::string::npos) << path << " " << token;
    }
  }
  EXPECT_NE(Get("/data").find("\"live\":true"), std::string::npos);
  EXPECT_NE(Get("/nothing").find(" 404 "), std::string::npos);
}

TEST_F(DashboardTest, AnotherNameIsNotServed) {
  for (const char* host : {"evil.example", "evil.example:7480", ""}) {
    const std::string answer =
        Ask("GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\nConnection: close\r\n\r\n");
    EXPECT_EQ(answer.find("kindred-data"), std::string::npos) << host;
    EXPECT_EQ(answer.find("200 OK"), std::string::npos) << host;
  }
  EXPECT_EQ(Ask("GET / HTTP/1.0\r\n\r\n").find("200 OK"), std::string::npos);
}

TEST_F(DashboardTest, TakesNothingFromOutside) {
  const std::string head = " /data HTTP/1.1\r\nHost: " + board_.address() +
                           "\r\nConnection: close\r\nAuthorization: Bearer " + kToken + "\r\n";
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS"}) {
    EXPECT_NE(Ask(method + head + "\r\n").find(" 405 "), std::string::npos) << method;
  }
  EXPECT_NE(Ask("POST" + head + "Content-Length: 4\r\n\r\nabcd").find(" 405 "), std::string::npos);
  EXPECT_EQ(Ask("GET" + head + "Content-Length: 4\r\n\r\nabcd").find("200 OK"), std::string::npos);
  EXPECT_EQ(Ask("GET /" + std::string(200'000, 'a') + head).find("200 OK"), std::string::npos);
  EXPECT_NE(Get("/health", "").find("200 OK"), std::string::npos);  // and goes on
}

TEST_F(DashboardTest, LetsNobodyFrameOrReadItFromElsewhere) {
  const std::string answer = Get("/");
  for (const char* header : {"frame-ancestors 'none'", "X-Content-Type-Options: nosniff",
                             "Cross-Origin-Resource-Policy: same-origin", "no-store"}) {
    EXPECT_NE(answer.find(header), std::string::npos) << header;
  }
  EXPECT_EQ(answer.find("Access-Control-Allow"), std::string::npos);
  EXPECT_EQ(answer.find(kToken), std::string::npos);
}

TEST_F(DashboardTest, TellsWhatIsAdded) {
  Append(R"({"kind":"round","round":1,"loss":5})");
  std::string heard;
  std::thread listener([&] { heard = Get("/events?from=0-0", kToken, "\"round\":2"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  Append(R"({"kind":"round","round":2,"loss":4})");
  listener.join();
  EXPECT_NE(heard.find("text/event-stream"), std::string::npos);
  EXPECT_NE(heard.find("event: metrics\ndata: {\"kind\":\"round\",\"round\":1,\"loss\":5}\n\n"),
            std::string::npos)
      << heard;
  EXPECT_NE(heard.find("\"round\":2"), std::string::npos);
  EXPECT_NE(Get("/metrics").find("kindred_round 2\n"), std::string::npos);
  EXPECT_NE(Get("/events?from=x").find(" 400 "), std::string::npos);
}

TEST(Dashboard, TellsListenersTheEnd) {
  const TemporaryFolder folder = TestFolder();
  const RunDir dir(folder.path());
  auto board = std::make_unique<Dashboard>(DashboardOptions{"127.0.0.1:0", kToken}, dir);
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(ParseAddress(board->address()).port);
  ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  ASSERT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const std::string request = "GET /events HTTP/1.1\r\nHost: " + board->address() +
                              "\r\nAuthorization: Bearer " + kToken + "\r\n\r\n";
  ASSERT_GT(::send(fd, request.data(), request.size(), MSG_NOSIGNAL), 0);
  std::string heard;
  std::thread listener([&] {
    char buffer[4096];
    for (ssize_t got; (got = ::recv(fd, buffer, sizeof buffer, 0)) > 0;) {
      heard.append(buffer, static_cast<size_t>(got));
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  WriteFileAtomically(dir.summary(), std::string_view("{\"model_digest\":\"abc\"}"));
  board.reset();
  listener.join();
  ::close(fd);
  EXPECT_NE(heard.find("event: summary\ndata: {\"model_digest\":\"abc\"}"), std::string::npos);
  EXPECT_NE(heard.find("event: end"), std::string::npos);
}

TEST(Dashboard, SaysWhyItCannotListen) {
  const TemporaryFolder folder = TestFolder();
  const RunDir dir(folder.path());
  const Dashboard first({"127.0.0.1:0", kToken}, dir);
  ExpectError(ExitCode::kNetwork, "give another", [&] {
    Dashboard({first.address(), kToken}, dir);
  });
  ExpectError(ExitCode::kUsage, "address that browsers", [&] {
    Dashboard({"0.0.0.0:0", kToken}, dir);
  });
}

}  // namespace
}  // namespace kindred

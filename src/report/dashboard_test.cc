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

// A connection to the dashboard; what comes is kept.
class Caller {
 public:
  Caller(const Dashboard& board, const std::string& request)
      : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(ParseAddress(board.address()).port);
    ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    const timeval patience = {.tv_sec = 20, .tv_usec = 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::send(fd_, request.data(), request.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(request.size()));
  }
  ~Caller() { ::close(fd_); }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  // All that has come when `text` has, or the server ends the connection.
  const std::string& Until(const std::string& text) {
    char buffer[4096];
    while (text.empty() || heard_.find(text) == std::string::npos) {
      const ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
      if (got <= 0) break;
      heard_.append(buffer, static_cast<size_t>(got));
    }
    return heard_;
  }
  const std::string& All() { return Until(""); }

 private:
  int fd_;
  std::string heard_;
};

std::string Request(const Dashboard& board, const std::string& path, const std::string& token) {
  return "GET " + path + " HTTP/1.1\r\nHost: " + board.address() + "\r\nConnection: close\r\n" +
         (token.empty() ? "" : "Authorization: Bearer " + token + "\r\n") + "\r\n";
}

class DashboardTest : public testing::Test {
 protected:
  DashboardTest() : dir_(folder_.path() / "run"), board_({"127.0.0.1:0", kToken}, dir_) {}

  std::string Ask(const std::string& request) const { return Caller(board_, request).All(); }

  std::string Get(const std::string& path, const std::string& token = kToken) const {
    return Ask(Request(board_, path, token));
  }

  void Append(const std::filesystem::path& path, const std::string& line) {
    MakeFolder(dir_.path());
    std::ofstream(path, std::ios::app) << line << "\n";
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
  std::string lower = Request(board_, "/data", kToken);
  lower.replace(lower.find("Bearer"), 6, "bearer");  // the scheme's name has no case
  EXPECT_NE(Ask(lower).find("200 OK"), std::string::npos);
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
  const std::string own = "Host: " + board_.address() + "\r\n";
  EXPECT_NE(Ask("GET / HTTP/1.1\r\n" + own + "host: evil.example\r\nConnection: close\r\n\r\n")
                .find(" 400 "),
            std::string::npos);
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
  Append(dir_.metrics(), R"({"kind":"round","round":1,"loss":5})");
  Caller listener(board_, Request(board_, "/events?from=0-0", kToken));
  const std::string heard = listener.Until("\"round\":1");
  EXPECT_NE(heard.find("text/event-stream"), std::string::npos);
  EXPECT_NE(heard.find("event: metrics\ndata: {\"kind\":\"round\",\"round\":1,\"loss\":5}\n\n"),
            std::string::npos)
      << heard;
  Append(dir_.metrics(), R"({"kind":"round","round":2,"loss":4})");
  EXPECT_NE(listener.Until("\"round\":2").find("\"round\":2"), std::string::npos);
  EXPECT_NE(Get("/metrics").find("kindred_round 2\n"), std::string::npos);
  EXPECT_NE(Get("/events?from=x").find(" 400 "), std::string::npos);
}

// The data and the events after it hold each line of the audit once, wherever a stream is cut.
TEST_F(DashboardTest, TellsEachEventOnce) {
  const std::string line = R"({"event":"miss","client":"a"})";
  for (int i = 0; i < 3; ++i) Append(dir_.audit(), line);
  std::ofstream(dir_.audit(), std::ios::app) << R"({"event":"miss")";  // being written
  const std::string data = Get("/data");
  EXPECT_NE(data.find(R"("counts":{"miss":3})"), std::string::npos) << data;
  const size_t whole = 3 * (line.size() + 1);
  EXPECT_NE(data.find(fmt::format(R"("next":"0-{}")", whole)), std::string::npos) << data;
  Caller listener(board_, Request(board_, "/events?from=0-0", kToken));
  const std::string last = fmt::format("id: 0-{}\n", whole);
  const std::string& heard = listener.Until(last);
  for (size_t i = 1; i <= 3; ++i) {
    const std::string id = fmt::format("id: 0-{}\nevent: audit\n", i * (line.size() + 1));
    EXPECT_NE(heard.find(id), std::string::npos) << id << heard;
  }
}

TEST(Dashboard, TellsListenersTheEnd) {
  const TemporaryFolder folder = TestFolder();
  const RunDir dir(folder.path());
  std::ofstream(dir.metrics()) << "{\"kind\":\"round\",\"round\":1}\n";
  auto board = std::make_unique<Dashboard>(DashboardOptions{"127.0.0.1:0", kToken}, dir);
  Caller listener(*board, Request(*board, "/events", kToken));
  listener.Until("\"round\":1");
  WriteFileAtomically(dir.summary(), std::string_view("{\"model_digest\":\"abc\"}"));
  std::thread ending([&] { board.reset(); });
  const std::string& heard = listener.All();
  ending.join();
  EXPECT_NE(heard.find("event: summary\ndata: {\"model_digest\":\"abc\"}"), std::string::npos);
  EXPECT_NE(heard.find("event: end"), std::string::npos);
}

TEST(Dashboard, IsOnLoopbackByItsAddressWhateverItsName) {
  const TemporaryFolder folder = TestFolder();
  const RunDir dir(folder.path());
  for (const char* host : {"127.0.0.1:0", "127.1.2.3:0", "localhost:0"}) {
    EXPECT_TRUE(Dashboard({host, kToken}, dir).OnLoopback()) << host;
  }
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

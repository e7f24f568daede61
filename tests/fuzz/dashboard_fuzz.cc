// Requests to the dashboard, over a socket: it answers or hangs up, never fails, and tells what is
// in the run's folder to nobody without the token.
#include "report/dashboard.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/address.h"
#include "tests/fuzz/target.h"

namespace kindred {
namespace {

constexpr std::string_view kToken = "t0k3n", kSecret = "a-clients-name";

// A dashboard of a run with a secret in each file.
struct Served {
  RunDir dir{FuzzFolder()};
  Dashboard dashboard{{.listen = "127.0.0.1:0", .token = std::string(kToken)}, dir};
  sockaddr_in address = {.sin_family = AF_INET,
                         .sin_port = htons(ParseAddress(dashboard.address()).port),
                         .sin_addr = {htonl(INADDR_LOOPBACK)},
                         .sin_zero = {}};

  Served() {
    MakeFolder(dir.page());
    const std::string secret = fmt::format("{{\"event\":\"join\",\"client\":\"{}\"}}\n", kSecret);
    for (const char* name : {"summary.json", "audit.jsonl", "metrics.jsonl", "page/clients.json"}) {
      WriteFuzzFile(name, secret);
    }
  }
};

// What the server answers until it hangs up. Events go on until the client does: of them the
// beginning is enough.
std::string Ask(const Served& served, std::string_view request) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::string answer;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&served.address), sizeof served.address) ==
      0) {
    ::send(fd, request.data(), request.size(), MSG_NOSIGNAL);
    ::shutdown(fd, SHUT_WR);
    char buffer[4096];
    pollfd wait = {.fd = fd, .events = POLLIN, .revents = 0};
    while (answer.find("text/event-stream") == std::string::npos && ::poll(&wait, 1, 5000) == 1) {
      const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
      if (got <= 0) break;
      answer.append(buffer, static_cast<size_t>(got));
    }
  }
  ::close(fd);
  return answer;
}

}  // namespace

void Fuzz(std::span<const uint8_t> input) {
  static const Served served;
  // The port is drawn anew each time: requests name it PORT.
  std::string request(AsText(input));
  const std::string port = fmt::format("{}", ntohs(served.address.sin_port));
  for (size_t at; (at = request.find("PORT")) != std::string::npos;) request.replace(at, 4, port);
  const std::string answer = Ask(served, request);
  Require(answer.empty() || answer.starts_with("HTTP/1."), "an answer that is not HTTP");
  Require(answer.find(" 500 ") == std::string::npos, "it failed");
  Require(answer.find(kSecret) == std::string::npos || request.find(kToken) != std::string::npos,
          "a secret for one without the token");
}

}  // namespace kindred

// A web server for tests: one file on the loopback interface, with the faults that downloads meet.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

#include "base/error.h"
#include "base/file.h"

namespace kindred {

struct HttpFaults {
  int cut_first = 0;        // so many answers break off in the middle
  size_t cut_after = 1000;  // after so many bytes
  bool ranges = true;       // answers "Range: bytes=N-" with the rest; else always the whole
  std::string status;       // such as "404 Not Found" instead of the file
};

class HttpServer {
 public:
  HttpServer(Bytes content, HttpFaults faults) : content_(std::move(content)), faults_(faults) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    Check(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "bind");
    Check(::listen(listener_, 8) == 0, "listen");
    socklen_t size = sizeof address;
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~HttpServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  std::string address() const { return fmt::format("http://127.0.0.1:{}/", port_); }
  int answers() const { return answers_; }
  size_t sent() const { return sent_; }

 private:
  void Serve() {
    for (;;) {
      const int peer = ::accept(listener_, nullptr, nullptr);
      if (peer < 0) return;
      Answer(peer);
      ::close(peer);
    }
  }

  void Answer(int peer) {
    std::string request;
    char buffer[4096];
    while (request.find("\r\n\r\n") == std::string::npos) {
      const ssize_t got = ::recv(peer, buffer, sizeof buffer, 0);
      if (got <= 0) return;
      request.append(buffer, static_cast<size_t>(got));
    }
    const int number = answers_++;
    size_t from = 0;
    const auto range = request.find("Range: bytes=");
    if (faults_.ranges && range != std::string::npos) from = std::stoul(request.substr(range + 13));
    std::string head;
    if (!faults_.status.empty()) {
      head = "HTTP/1.1 " + faults_.status + "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
      from = content_.size();
    } else if (from > 0 && from >= content_.size()) {
      head = "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    } else {
      head = fmt::format("HTTP/1.1 {}\r\n{}Content-Length: {}\r\nConnection: close\r\n\r\n",
                         from > 0 ? "206 Partial Content" : "200 OK",
                         from > 0 ? fmt::format("Content-Range: bytes {}-{}/{}\r\n", from,
                                                content_.size() - 1, content_.size())
                                  : "",
                         content_.size() - from);
    }
    ::send(peer, head.data(), head.size(), MSG_NOSIGNAL);
    size_t end = content_.size();
    if (number < faults_.cut_first) end = std::min(end, from + faults_.cut_after);
    if (from < end) sent_ += end - from;  // counted first: the peer may be done before send returns
    while (from < end) {
      const ssize_t wrote = ::send(peer, content_.data() + from, end - from, MSG_NOSIGNAL);
      if (wrote <= 0) return;
      from += static_cast<size_t>(wrote);
    }
  }

  Bytes content_;
  HttpFaults faults_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> answers_ = 0;
  std::atomic<size_t> sent_ = 0;
  std::thread thread_;
};

}  // namespace kindred

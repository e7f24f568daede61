// The live page of a run: an HTTP server that reads the run's folder while the run fills it.
//
//   /           the page; it holds no data
//   /data       the run so far, as JSON
//   /events     what comes after it, as server-sent events
//   /part/NAME  clients, samples or embedding, when an event says that it changed
//   /metrics    for Prometheus
//   /health     that it answers
//
// All but the page and /health need the token, as `Authorization: Bearer TOKEN`: nothing that a
// browser sends by itself opens anything. The page has it from the fragment of the address it was
// opened with, which browsers keep to themselves.
#pragma once

#include <memory>
#include <string>

#include "record/run_dir.h"

namespace kindred {

struct DashboardOptions {
  std::string listen = "127.0.0.1:7480";  // HOST:PORT; port 0: any
  std::string token = {};                 // empty: one is drawn
};

// 32 random bytes as hexadecimal digits.
std::string DrawToken();

class Dashboard {
 public:
  // Answers until it is destroyed, which lets those who listen have the last events. The folder
  // need not exist yet. Throws a network error when it cannot listen.
  Dashboard(const DashboardOptions& options, const RunDir& dir);
  ~Dashboard();
  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;

  const std::string& address() const { return address_; }  // HOST:PORT
  std::string Url() const;                                 // with the token: for who started it
  bool OnLoopback() const { return loopback_; }            // whatever name it was given

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::string address_;
  bool loopback_ = true;
};

}  // namespace kindred
